package kafkaoracle.rule;

import java.util.Map;

/** What Kafka threw: Java's simple class name, and the message if Kafka wrote it (the JVM may change its own messages). */
public final class ThrownByKafka extends Exception {
    private static final long serialVersionUID = 1;
    final transient Map<String, Object> answer;

    public ThrownByKafka(Throwable thrown) {
        super(null, thrown, false, false);
        String name = thrown.getClass().getSimpleName();
        answer = isWrittenByKafka(thrown) ? Map.of("raises", name, "message", thrown.getMessage()) : Map.of("raises", name);
    }

    /** A class name without a message. */
    public ThrownByKafka(String name) {
        super(name, null, false, false);
        answer = Map.of("raises", name);
    }

    private static boolean isWrittenByKafka(Throwable thrown) {
        StackTraceElement[] stack = thrown.getStackTrace();
        return stack.length > 0 && stack[0].getClassName().startsWith("org.apache.kafka.")
            && thrown.getMessage() != null && !isMadeByTheJvm(thrown);
    }

    private static boolean isMadeByTheJvm(Throwable thrown) {
        return thrown instanceof NullPointerException
            || thrown instanceof ArithmeticException
            || thrown instanceof IndexOutOfBoundsException
            || thrown instanceof ClassCastException
            || thrown instanceof NegativeArraySizeException;
    }
}
