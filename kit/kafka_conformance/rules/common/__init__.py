"""Code that several rules share: keys, clusters, scripts of steps, their timelines, and ways to make mutants."""
