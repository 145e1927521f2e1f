"""The rule ``sticky-assignor``."""
