"""Rewrite a topic as Java would have placed it."""
