"""Reports of a gate, one writer for each format, made from its events."""
