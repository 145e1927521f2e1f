"""Histories played on real clusters."""
