"""Gymnasium tasks with sparse rewards: ours, not the paper's."""
