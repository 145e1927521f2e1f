"""The rule ``sequence-decrement``."""
