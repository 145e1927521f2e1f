package kafkaoracle.rule;

import java.lang.reflect.InvocationTargetException;
import java.util.HexFormat;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.Function;

/**
 * One rule of the release this is compiled against: a question's fields in, an answer's fields out.
 *
 * An error that Kafka's own code raises is an answer; an error anywhere else is a fault of the oracle. So each rule
 * passes exactly its calls of Kafka through {@link #kafka}, and everything outside of that may fail loudly.
 */
public abstract class Rule implements Function<Map<String, Object>, Map<String, Object>> {

    protected abstract Map<String, Object> answer(Map<String, Object> question) throws Exception;

    @Override
    public final Map<String, Object> apply(Map<String, Object> question) {
        try {
            return answer(question);
        } catch (Raised raised) {
            return raised.answer;
        } catch (RuntimeException fault) {
            throw fault;
        } catch (Exception fault) {
            throw new IllegalStateException(fault.toString(), fault);
        }
    }

    /** Calls Kafka; what it raises becomes the answer. */
    public static <T> T kafka(Callable<T> call) throws Exception {
        try {
            return call.call();
        } catch (InvocationTargetException reflected) {
            throw new Raised(reflected.getCause());
        } catch (Throwable thrown) {
            throw new Raised(thrown);
        }
    }

    /** The bytes of a hex string, or as many zeros as {@code {"length": n}} says; null stays null. */
    public static byte[] bytes(Object field) {
        if (field instanceof Map<?, ?> zeros) {
            return new byte[integer(zeros.get("length"))];
        }
        return field == null ? null : HexFormat.of().parseHex((String) field);
    }

    public static int integer(Object number) {
        return Math.toIntExact(((Number) number).longValue());
    }

    /** What Kafka raised: Java's simple class name, and the text if Kafka wrote it (the JVM's own texts are no promise). */
    private static final class Raised extends Exception {
        private static final long serialVersionUID = 1;
        private final transient Map<String, Object> answer;

        Raised(Throwable thrown) {
            super(null, thrown, false, false);
            String name = thrown.getClass().getSimpleName();
            StackTraceElement[] stack = thrown.getStackTrace();
            boolean kafkas = stack.length > 0 && stack[0].getClassName().startsWith("org.apache.kafka.");
            boolean written = kafkas && thrown.getMessage() != null && !isMadeByTheJvm(thrown);
            answer = written ? Map.of("raises", name, "message", thrown.getMessage()) : Map.of("raises", name);
        }

        private static boolean isMadeByTheJvm(Throwable thrown) {
            return thrown instanceof NullPointerException
                || thrown instanceof ArithmeticException
                || thrown instanceof IndexOutOfBoundsException
                || thrown instanceof ClassCastException
                || thrown instanceof NegativeArraySizeException;
        }
    }
}
