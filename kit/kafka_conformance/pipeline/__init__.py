"""The Spark jobs: a session with everything an executor needs, runs that resume, sweeps."""
