"""The rule ``uniform-sticky-partitioner``."""
