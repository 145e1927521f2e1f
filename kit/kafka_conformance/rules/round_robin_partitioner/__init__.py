"""The rule ``round-robin-partitioner``."""
