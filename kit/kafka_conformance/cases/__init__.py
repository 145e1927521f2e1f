"""Frozen cases: questions with Java's answers, shipped in the package."""
