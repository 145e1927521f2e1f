"""Drivers: programs in any language that read questions and write answers as JSON lines."""
