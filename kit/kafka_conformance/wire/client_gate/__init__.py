"""The gate of clients: scripts that a client goes through behind a recording proxy, and what has to hold afterwards."""
