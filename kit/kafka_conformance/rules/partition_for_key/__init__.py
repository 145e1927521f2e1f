"""The rule ``partition-for-key``."""
