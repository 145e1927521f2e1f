"""The rule ``log-segment``."""
