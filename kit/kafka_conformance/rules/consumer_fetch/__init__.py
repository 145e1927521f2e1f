"""The rule ``consumer-fetch``."""
