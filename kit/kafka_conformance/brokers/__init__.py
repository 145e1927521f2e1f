"""Real brokers for tests: started, used and ended without a trace. Checks of a user's broker, before Spark starts."""
