"""The rule ``isr``."""
