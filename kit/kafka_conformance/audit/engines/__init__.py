"""The engines of an audit: this process (local) and Spark."""
