package kafkaoracle.partitioner;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Map;
import kafkaoracle.rule.ScriptRule;
import org.apache.kafka.clients.producer.Partitioner;
import org.apache.kafka.common.Cluster;

/**
 * A script put to one of Kafka's partitioners, a new one for every question.
 *
 * Partitioner.onNewBatch exists from 2.4.0 to 3.9.x only. In the other releases no producer says that it starts a
 * batch, so there the step is taken by doing nothing.
 */
public abstract class PartitionerRule extends ScriptRule {
    private static final Method ON_NEW_BATCH = Arrays.stream(Partitioner.class.getMethods())
        .filter(method -> method.getName().equals("onNewBatch"))
        .findFirst()
        .orElse(null);

    private Partitioner partitioner;

    /** A new partitioner, which has seen nothing; the draws the question asks for are what it will draw. */
    protected abstract Partitioner fresh(Map<String, Object> question) throws Exception;

    /** Before a record is placed. */
    protected void aboutToPlace(String topic, byte[] key) throws Exception {
    }

    @Override
    protected final void begin(Map<String, Object> question) throws Exception {
        partitioner = fresh(question);
    }

    @Override
    protected final Map<String, Object> take(String op, Map<String, Object> asked) throws Exception {
        String topic = (String) asked.get("topic");
        Cluster now = cluster();
        switch (op) {
            case "partition":
                byte[] key = bytes(asked.get("key"));
                aboutToPlace(topic, key);
                return Map.of("partition", kafka(() -> partitioner.partition(topic, key, key, null, null, now)));
            case "new_batch":
                Integer previous = integer(asked.get("previous"));
                if (ON_NEW_BATCH != null) {
                    kafka(() -> ON_NEW_BATCH.invoke(partitioner, topic, now, previous));
                }
                return Map.of();
            default:
                throw new IllegalArgumentException("a partitioner's script has no step " + op);
        }
    }

    /** The question's seed: a number, or a string where it is beyond what every JSON reader keeps exact. */
    public static long seed(Map<String, Object> question) {
        Object seed = question.get("seed");
        return seed instanceof String ? Long.parseLong((String) seed) : ((Number) seed).longValue();
    }
}
