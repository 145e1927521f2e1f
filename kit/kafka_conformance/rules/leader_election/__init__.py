"""The rule ``leader-election``."""
