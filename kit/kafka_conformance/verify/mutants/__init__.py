"""The mutants that ``selftest`` has killed, and those that it has to ask again."""
