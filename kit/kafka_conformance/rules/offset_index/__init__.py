"""The rule ``offset-index``."""
