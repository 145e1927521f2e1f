"""The rule ``murmur2``."""
