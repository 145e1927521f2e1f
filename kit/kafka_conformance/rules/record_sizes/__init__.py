"""The rule ``record-sizes``."""
