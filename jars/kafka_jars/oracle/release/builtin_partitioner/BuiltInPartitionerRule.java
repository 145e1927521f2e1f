package kafkaoracle.builtin_partitioner;

import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import kafkaoracle.partitioner.BuiltInPartitionerAccess;
import kafkaoracle.partitioner.ClusterScriptRule;
import kafkaoracle.rule.QuestionDraws;
import kafkaoracle.rule.Rule;

/**
 * BuiltInPartitioner, since 3.3.0, step by step as the accumulator uses it.
 *
 * Kafka chooses at most once in each call, and takes one draw for it. So before every call the next draw of the question
 * is put in, and afterwards it is counted whether it was taken.
 */
public final class BuiltInPartitionerRule extends ClusterScriptRule {
    private BuiltInPartitionerAccess partitioner;
    private QuestionDraws draws;

    public BuiltInPartitionerRule(String release) {
    }

    @Override
    protected void start(Map<String, Object> question) throws Exception {
        draws = new QuestionDraws(question.get("draws"));
        partitioner = new BuiltInPartitionerAccess(TOPIC, integer(question.get("batch_size")),
            Boolean.TRUE.equals(question.get("rack_aware")), (String) question.getOrDefault("rack", ""));
    }

    @Override
    protected Map<String, Object> take(String op, Map<String, Object> step) throws Exception {
        switch (op) {
            case "peek":
                return answer(peek());
            case "append":
                report(step);
                return answer(peek());
            case "send":
                return Map.of("partition", partitioner.partition(report(step)));
            case "load":
                List<?> racks = (List<?>) step.get("racks");
                partitioner.load(integers(step.get("queue_sizes")), integers(step.getOrDefault("partition_ids", List.of())),
                    racks == null ? null : racks.toArray(new String[0]), integer(step.getOrDefault("length", 0)));
                return Collections.singletonMap("range_end", partitioner.rangeEnd());
            default:
                return super.take(op, step);
        }
    }

    /** Peeks and then reports the bytes, as RecordAccumulator.append does, and returns what the peek returned. */
    private Object report(Map<String, Object> step) throws Exception {
        int bytes = integer(step.get("bytes"));
        boolean enableSwitch = (Boolean) step.getOrDefault("enable_switch", true);
        Object info = peek();
        drawing(() -> {
            partitioner.update(info, bytes, cluster(), enableSwitch);
            return null;
        });
        return info;
    }

    private Object peek() throws Exception {
        return drawing(() -> partitioner.peek(cluster()));
    }

    private Map<String, Object> answer(Object info) throws Exception {
        return Map.of("partition", partitioner.partition(info), "drawn", draws.taken());
    }

    /** Calls Kafka with the next draw put in, which counts as taken also if Kafka throws. */
    private <T> T drawing(Callable<T> call) throws Exception {
        draws.offer();
        try {
            return call.call();
        } finally {
            draws.settle(1);
        }
    }

    private static int[] integers(Object list) {
        return list == null ? null : ((List<?>) list).stream().mapToInt(Rule::integer).toArray();
    }
}
