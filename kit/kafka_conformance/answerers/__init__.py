"""Answerers: the reference, Java, mutants, and implementations under test. All take questions in the same way."""
