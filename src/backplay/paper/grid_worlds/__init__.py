"""The paper's grid worlds and its tree: jobs and claims."""
