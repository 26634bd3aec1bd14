"""Plain data in memory and on disk."""
