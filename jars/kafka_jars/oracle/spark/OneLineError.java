package kafkaoracle.spark;

/**
 * An error for the user, in one line, which the kit finds by its prefix.
 *
 * It is an exception of the JDK's: Spark's driver cannot load one of ours, and reports "UnknownReason" then.
 */
final class OneLineError {
    private OneLineError() {
    }

    static IllegalStateException of(String line) {
        return new IllegalStateException("kafka-conformance: " + line);
    }
}
