package kafkaoracle.rule;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.HexFormat;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.Function;
import kafkaoracle.reflection.Members;

/**
 * One rule, as the release that this is compiled against answers it: a question's fields in, an answer's fields out.
 *
 * What Kafka's own code throws is an answer; what is thrown anywhere else is a fault of the oracle. So each rule passes
 * exactly its calls of Kafka through {@link #kafka}, and everything outside of that may fail loudly.
 */
public abstract class Rule implements Function<Map<String, Object>, Map<String, Object>> {

    protected abstract Map<String, Object> answer(Map<String, Object> question) throws Exception;

    @Override
    public final Map<String, Object> apply(Map<String, Object> question) {
        return outcome(() -> answer(question));
    }

    /** What {@code work} returns, or {@code {"raises": …}} if Kafka throws within it. */
    protected static Map<String, Object> outcome(Callable<Map<String, Object>> work) {
        try {
            return work.call();
        } catch (ThrownByKafka thrown) {
            return thrown.answer;
        } catch (RuntimeException fault) {
            throw fault;
        } catch (Exception fault) {
            throw new IllegalStateException(fault.toString(), fault);
        }
    }

    /** Calls Kafka; what it throws becomes the answer. */
    public static <T> T kafka(Callable<T> call) throws Exception {
        try {
            return call.call();
        } catch (InvocationTargetException reflected) {
            throw new ThrownByKafka(reflected.getCause());
        } catch (Throwable thrown) {
            throw new ThrownByKafka(thrown);
        }
    }

    /** Calls a method of Kafka's by name, which has to exist; what it throws becomes the answer. */
    public static Object kafka(Object object, String name, Object... arguments) throws Exception {
        Method method = Members.required(object, name, arguments.length);
        return kafka(() -> method.invoke(object, arguments));
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

    /** The number in this field, or {@code otherwise} if there is none. */
    public static long number(Map<?, ?> fields, String name, long otherwise) {
        Object found = fields.get(name);
        return found == null ? otherwise : ((Number) found).longValue();
    }
}
