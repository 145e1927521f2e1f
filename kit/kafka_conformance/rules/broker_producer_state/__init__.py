"""The rule ``broker-producer-state``."""
