package kafkaoracle.spark;

/** Why a topic cannot be rewritten, or not any further; the message is the line for the user. */
public final class RepairFault extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public RepairFault(String message) {
        super(message);
    }
}
