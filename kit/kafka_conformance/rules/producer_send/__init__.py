"""The rule ``producer-send``."""
