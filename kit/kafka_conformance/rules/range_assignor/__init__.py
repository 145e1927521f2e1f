"""The rule ``range-assignor``."""
