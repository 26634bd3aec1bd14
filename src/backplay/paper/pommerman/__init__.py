"""The paper's Pommerman: jobs, claims, figures."""
