package kafkaoracle.builtin_partitioner;

import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import kafkaoracle.rule.Draws;
import kafkaoracle.rule.Rule;
import kafkaoracle.rule.ScriptRule;
import org.apache.kafka.clients.producer.internals.BuiltInPartitioner;
import org.apache.kafka.clients.producer.internals.BuiltInPartitioner.StickyPartitionInfo;

/**
 * BuiltInPartitioner, from 3.3.0 on, step by step as the accumulator uses it. Some of its methods are for its own
 * package only, and 4.4.0 gave others further parameters (racks), so all are called by reflection.
 *
 * Kafka chooses at most once in each call, and takes one draw for it. So before every call the next draw of the question
 * is put in, and afterwards it is counted whether it was taken.
 */
public final class BuiltInPartitionerRule extends ScriptRule {
    private static final Map<String, Object> NO_RANGE = Collections.singletonMap("range_end", null);

    private final Constructor<?> constructor = BuiltInPartitioner.class.getConstructors()[0];
    private final boolean knowsRacks = constructor.getParameterCount() == 5;
    private final Object logContext;
    private final Method peek = method("peekCurrentPartitionInfo", 1);
    private final Method update = method("updatePartitionInfo", 4);
    private final Method load = method("updatePartitionLoadStats", knowsRacks ? 4 : 3);

    private BuiltInPartitioner partitioner;
    private int[] draws;
    private int drawn;

    public BuiltInPartitionerRule(String release) throws ReflectiveOperationException {
        logContext = constructor.getParameterTypes()[0].getConstructor().newInstance();
    }

    @Override
    protected void begin(Map<String, Object> question) throws Exception {
        draws = integers(question.get("draws"));
        drawn = 0;
        int batchSize = integer(question.get("batch_size"));
        boolean rackAware = Boolean.TRUE.equals(question.get("rack_aware"));
        String rack = (String) question.getOrDefault("rack", "");
        partitioner = (BuiltInPartitioner) kafka(() -> knowsRacks
            ? constructor.newInstance(logContext, TOPIC, batchSize, rackAware, rack)
            : constructor.newInstance(logContext, TOPIC, batchSize));
    }

    @Override
    protected Map<String, Object> take(String op, Map<String, Object> asked) throws Exception {
        switch (op) {
            case "peek":
                return standing(peek());
            case "append":
                int bytes = integer(asked.get("bytes"));
                boolean enableSwitch = (Boolean) asked.get("enable_switch");
                StickyPartitionInfo info = peek();
                drawing(() -> update.invoke(partitioner, info, bytes, cluster(), enableSwitch));
                return standing(peek());
            case "load":
                return load(asked);
            default:
                throw new IllegalArgumentException("a built-in partitioner's script has no step " + op);
        }
    }

    private StickyPartitionInfo peek() throws Exception {
        return (StickyPartitionInfo) drawing(() -> peek.invoke(partitioner, cluster()));
    }

    private Map<String, Object> standing(StickyPartitionInfo info) {
        return Map.of("partition", info.partition(), "drawn", drawn);
    }

    private Map<String, Object> load(Map<String, Object> asked) throws Exception {
        int[] sizes = integers(asked.get("queue_sizes"));
        int[] ids = integers(asked.getOrDefault("partition_ids", List.of()));
        List<?> racks = (List<?>) asked.get("racks");
        String[] rackOfEach = racks == null ? null : racks.toArray(new String[0]);
        int length = integer(asked.getOrDefault("length", 0));
        kafka(() -> knowsRacks
            ? load.invoke(partitioner, sizes, ids, rackOfEach, length)
            : load.invoke(partitioner, sizes, ids, length));
        try {
            return Map.of("range_end", partitioner.loadStatsRangeEnd());
        } catch (NullPointerException withoutStatistics) {
            return NO_RANGE;
        }
    }

    /** Calls Kafka with the next draw put in. Whether it takes it shows in {@link #drawn}, also if it raises. */
    private <T> T drawing(Callable<T> call) throws Exception {
        Draws.next(drawn < draws.length ? draws[drawn] : 0);
        try {
            return kafka(call);
        } finally {
            drawn += (int) Draws.used();
            if (drawn > draws.length || Draws.used() > 1) {
                throw new IllegalStateException(
                    "the question holds " + draws.length + " draws and Kafka took " + drawn + ": add draws to it");
            }
        }
    }

    private static int[] integers(Object list) {
        return list == null ? null : ((List<?>) list).stream().mapToInt(Rule::integer).toArray();
    }

    private static Method method(String name, int parameters) {
        Method found = Arrays.stream(BuiltInPartitioner.class.getDeclaredMethods())
            .filter(method -> method.getName().equals(name) && method.getParameterCount() == parameters)
            .findFirst()
            .orElseThrow(() -> new IllegalStateException("BuiltInPartitioner." + name + " is not where it was"));
        found.setAccessible(true);
        return found;
    }
}
