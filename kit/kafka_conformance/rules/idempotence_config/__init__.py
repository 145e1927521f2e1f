"""The rule ``idempotence-config``."""
