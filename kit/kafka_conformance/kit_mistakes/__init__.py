"""Mistakes of the kit itself, planted one at a time, and the checks that have to find them: ``selftest --kit``."""
