"""The rule ``server-uniform-assignor``."""
