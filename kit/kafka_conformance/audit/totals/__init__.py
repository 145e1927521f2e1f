"""Add up the findings of a topic's blocks."""
