"""Real brokers: started, spoken to, and ended without a trace."""
