"""Run Kafka's real Java classes in Spark's JVM through py4j: find Java, start the JVM, compile the bridge, open releases."""
