"""Audit a topic from a broker's segment files, with what they know of producers."""
