"""What runs an audit: this process, or Spark."""
