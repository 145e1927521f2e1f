"""Audit a small topic in this process: without Spark and without Java."""
