"""The rule ``record-accumulator``."""
