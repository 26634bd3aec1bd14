"""The paper's experiments as data, and what turns them into training runs."""
