"""Idempotent producing: what a configuration ends up with, and sequence numbers."""
