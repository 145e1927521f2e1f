package kafkaoracle.accumulator;

import java.lang.reflect.Array;
import java.lang.reflect.Constructor;
import java.util.List;
import kafkaoracle.rule.Rule;

/** The headers of a record, which Kafka has since 0.11.0.0: so they are named by reflection. */
public final class RecordHeaders {
    private RecordHeaders() {
    }

    public static Object from(List<?> asked, Class<?> header) {
        Object found = Array.newInstance(header, asked.size());
        try {
            Constructor<?> made = Class.forName(header.getPackageName() + ".internals.RecordHeader").getConstructor(String.class, byte[].class);
            for (int at = 0; at < asked.size(); at++) {
                List<?> pair = (List<?>) asked.get(at);
                Array.set(found, at, made.newInstance(pair.get(0), Rule.bytes(pair.get(1))));
            }
        } catch (ReflectiveOperationException changed) {
            throw new IllegalStateException(changed);
        }
        return found;
    }
}
