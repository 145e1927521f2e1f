"""The rule ``record-batch``."""
