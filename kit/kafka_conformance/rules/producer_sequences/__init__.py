"""The rule ``producer-sequences``."""
