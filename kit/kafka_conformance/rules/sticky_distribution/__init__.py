"""The rule ``sticky-distribution``."""
