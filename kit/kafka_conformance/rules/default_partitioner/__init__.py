"""The rule ``default-partitioner``."""
