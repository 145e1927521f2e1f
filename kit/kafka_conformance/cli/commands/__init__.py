"""One file for each command: what it asks, whom, and what it prints. Each returns its exit code."""
