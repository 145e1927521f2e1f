"""Mutants that are generated from the reference's syntax trees, and the questions that kill them."""
