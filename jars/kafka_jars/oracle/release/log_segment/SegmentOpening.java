package kafkaoracle.log_segment;

import java.io.File;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Map;
import kafkaoracle.accumulator.SteppedClock;
import kafkaoracle.reflection.Arguments;
import kafkaoracle.reflection.Members;
import kafkaoracle.rule.Rule;
import org.apache.kafka.common.utils.Time;

/** Opens the segment of a question; the indexes of a segment are lazy since 2.3.0. */
final class SegmentOpening {
    private static final String STORAGE = "org.apache.kafka.storage.internals.log.";
    private static final String SCALA = "kafka.log.";

    private final Constructor<?> constructor;

    SegmentOpening() throws ReflectiveOperationException {
        constructor = Arrays.stream(type("LogSegment").getDeclaredConstructors())
            .filter(each -> each.getParameterTypes()[0].getSimpleName().equals("FileRecords")).findFirst().orElseThrow();
        constructor.setAccessible(true);
    }

    static Class<?> type(String name) throws ClassNotFoundException {
        return Members.type(STORAGE + name, SCALA + name);
    }

    Object open(Map<?, ?> question, SegmentFiles files, SteppedClock clock) throws Exception {
        long base = Rule.number(question, "base_offset", 0);
        int size = (int) Rule.number(question, "max_index_size", 1024);
        Class<?>[] types = constructor.getParameterTypes();
        Arguments arguments = new Arguments()
            .give(types[0], Members.method(types[0], "open", 4).invoke(null, files.file(".log"), false, 0, false))
            .give(long.class, base, Rule.number(question, "jitter_ms", 0), Rule.number(question, "segment_ms", 1000))
            .give(int.class, (int) Rule.number(question, "index_interval_bytes", 4096), (int) Rule.number(question, "segment_bytes", 1000))
            .give(type("TransactionIndex"), Members.constructor(type("TransactionIndex")).newInstance(base, files.file(".txnindex")))
            .give(Time.class, clock.time);
        Object offsets = index(types[1], "forOffset", files.file(".index"), base, size);
        Object times = index(types[2], "forTime", files.file(".timeindex"), base, size);
        if (types[1] == types[2]) {
            arguments.give(types[1], offsets, times);
        } else {
            arguments.give(types[1], offsets).give(types[2], times);
        }
        return constructor.newInstance(arguments.match(types, missing -> {
            throw new IllegalStateException("LogSegment takes a " + missing.getName());
        }));
    }

    private static Object index(Class<?> type, String name, File file, long base, int size) throws Exception {
        Object[] arguments = {file, base, size, true};
        if (type.getSimpleName().equals("LazyIndex")) {
            Method made = Members.method(type, name);
            return made.invoke(null, Arrays.copyOf(arguments, made.getParameterCount()));
        }
        return Members.constructor(type).newInstance(arguments);
    }
}
