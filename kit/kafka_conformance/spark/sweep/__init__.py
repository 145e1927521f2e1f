"""The proof at scale: billions of keys and millions of scripts, on Spark."""
