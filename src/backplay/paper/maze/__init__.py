"""The paper's Maze: regimes, jobs, claims, figures."""
