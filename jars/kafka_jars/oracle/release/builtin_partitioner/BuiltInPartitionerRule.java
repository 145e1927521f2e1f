package kafkaoracle.builtin_partitioner;

import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import kafkaoracle.partitioner.ClusterScriptRule;
import kafkaoracle.reflection.Members;
import kafkaoracle.rule.QuestionDraws;
import kafkaoracle.rule.Rule;
import org.apache.kafka.clients.producer.internals.BuiltInPartitioner;
import org.apache.kafka.clients.producer.internals.BuiltInPartitioner.StickyPartitionInfo;

/**
 * BuiltInPartitioner, since 3.3.0, step by step as the accumulator uses it. Some of its methods are package-private, and
 * 4.4.0 gave others further parameters (racks), so all are called by reflection.
 *
 * Kafka chooses at most once in each call, and takes one draw for it. So before every call the next draw of the question
 * is put in, and afterwards it is counted whether it was taken.
 */
public final class BuiltInPartitionerRule extends ClusterScriptRule {
    private static final Map<String, Object> NO_RANGE = Collections.singletonMap("range_end", null);

    private final Constructor<?> constructor = BuiltInPartitioner.class.getConstructors()[0];
    private final boolean takesRacks = constructor.getParameterCount() == 5;
    private final Object logContext;
    private final Method peek = Members.method(BuiltInPartitioner.class, "peekCurrentPartitionInfo", 1);
    private final Method update = Members.method(BuiltInPartitioner.class, "updatePartitionInfo", 4);
    private final Method load = Members.method(BuiltInPartitioner.class, "updatePartitionLoadStats", takesRacks ? 4 : 3);

    private BuiltInPartitioner partitioner;
    private QuestionDraws draws;

    public BuiltInPartitionerRule(String release) throws ReflectiveOperationException {
        logContext = constructor.getParameterTypes()[0].getConstructor().newInstance();
    }

    @Override
    protected void start(Map<String, Object> question) throws Exception {
        draws = new QuestionDraws(question.get("draws"));
        int batchSize = integer(question.get("batch_size"));
        boolean rackAware = Boolean.TRUE.equals(question.get("rack_aware"));
        String rack = (String) question.getOrDefault("rack", "");
        partitioner = (BuiltInPartitioner) kafka(() -> takesRacks
            ? constructor.newInstance(logContext, TOPIC, batchSize, rackAware, rack)
            : constructor.newInstance(logContext, TOPIC, batchSize));
    }

    @Override
    protected Map<String, Object> take(String op, Map<String, Object> step) throws Exception {
        switch (op) {
            case "peek":
                return answer(peek());
            case "append":
                int bytes = integer(step.get("bytes"));
                boolean enableSwitch = (Boolean) step.get("enable_switch");
                StickyPartitionInfo info = peek();
                drawing(() -> update.invoke(partitioner, info, bytes, cluster(), enableSwitch));
                return answer(peek());
            case "load":
                return load(step);
            default:
                return super.take(op, step);
        }
    }

    private StickyPartitionInfo peek() throws Exception {
        return (StickyPartitionInfo) drawing(() -> peek.invoke(partitioner, cluster()));
    }

    private Map<String, Object> answer(StickyPartitionInfo info) {
        return Map.of("partition", info.partition(), "drawn", draws.taken());
    }

    private Map<String, Object> load(Map<String, Object> step) throws Exception {
        int[] sizes = integers(step.get("queue_sizes"));
        int[] ids = integers(step.getOrDefault("partition_ids", List.of()));
        List<?> racks = (List<?>) step.get("racks");
        String[] rackOfEach = racks == null ? null : racks.toArray(new String[0]);
        int length = integer(step.getOrDefault("length", 0));
        kafka(() -> takesRacks
            ? load.invoke(partitioner, sizes, ids, rackOfEach, length)
            : load.invoke(partitioner, sizes, ids, length));
        try {
            return Map.of("range_end", partitioner.loadStatsRangeEnd());
        } catch (NullPointerException withoutStatistics) {
            return NO_RANGE;
        }
    }

    /** Calls Kafka with the next draw put in, which counts as taken also if Kafka throws. */
    private <T> T drawing(Callable<T> call) throws Exception {
        draws.offer();
        try {
            return kafka(call);
        } finally {
            draws.settle(1);
        }
    }

    private static int[] integers(Object list) {
        return list == null ? null : ((List<?>) list).stream().mapToInt(Rule::integer).toArray();
    }
}
