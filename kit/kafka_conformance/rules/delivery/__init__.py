"""The rule ``delivery``."""
