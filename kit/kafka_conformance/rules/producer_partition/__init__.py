"""The rule ``producer-partition``."""
