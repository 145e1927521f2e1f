"""The rule ``builtin-partitioner``."""
