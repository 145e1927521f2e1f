"""The rule ``time-index``."""
