"""The paper's analysis as an experiment."""
