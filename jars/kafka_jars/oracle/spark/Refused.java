package kafkaoracle.spark;

/**
 * This executor cannot be asked: its files are not those that were sent. One line, for the user, marked as such.
 *
 * It is an exception of the JDK's: Spark's driver does not know one of ours, and tells of a failure "UnknownReason" then.
 */
final class Refused {
    private Refused() {
    }

    static IllegalStateException because(String line) {
        return new IllegalStateException("kafka-conformance: " + line);
    }
}
