"""The rule ``server-range-assignor``."""
