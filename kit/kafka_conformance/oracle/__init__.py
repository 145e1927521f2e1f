"""Real Java, through Spark's JVM, by py4j: which Java, the JVM, the compiled bridge, and the releases opened in it."""
