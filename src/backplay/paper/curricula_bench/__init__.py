"""All curricula on many tasks: half of the tasks to choose a default, the other half to report."""
