"""What several rules share: keys, clusters, scripts of steps."""
