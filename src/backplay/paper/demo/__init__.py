"""`backplay demo`: three ways to start episodes on one sparse task."""
