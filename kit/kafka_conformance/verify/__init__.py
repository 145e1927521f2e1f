"""The proof: the reference compared with the real Java classes, and Java compared with itself."""
