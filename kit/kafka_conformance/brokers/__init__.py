"""Real brokers for tests: started, used and ended without a trace."""
