"""The rule ``cooperative-sticky-assignor``."""
