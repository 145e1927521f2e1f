"""The rule ``round-robin-assignor``."""
