"""The rule ``sequence-increment``."""
