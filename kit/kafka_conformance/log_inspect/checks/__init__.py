"""The checks, one module per idea. Each is told what the scan finds, and adds findings."""
