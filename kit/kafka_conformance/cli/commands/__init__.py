"""One file for each command: its questions, who answers them, and what is printed. Each returns its exit code."""
