"""The checks, one module per idea. Each receives what the scan finds, and adds findings."""
