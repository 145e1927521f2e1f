package kafkaoracle.partitioner;

import java.lang.reflect.Method;
import java.util.Map;
import kafkaoracle.reflection.Members;
import kafkaoracle.rule.Draws;
import org.apache.kafka.clients.producer.Partitioner;
import org.apache.kafka.common.Cluster;

/**
 * A script put to one of Kafka's partitioners, a new one for every question.
 *
 * Partitioner.onNewBatch exists from 2.4.0 to 3.9.x only. In the other releases no producer reports that it starts a
 * batch, so there the step does nothing.
 */
public abstract class PartitionerRule extends ClusterScriptRule {
    private static final Method ON_NEW_BATCH = Members.method(Partitioner.class, "onNewBatch");

    private Partitioner partitioner;

    /** A new partitioner; what it draws follows from the question's seed. */
    protected abstract Partitioner fresh() throws Exception;

    /** Called before a record is placed. */
    protected void aboutToPlace(String topic, byte[] key) throws Exception {
    }

    @Override
    protected final void start(Map<String, Object> question) throws Exception {
        Object seed = question.get("seed"); // a string where it is beyond what every JSON reader keeps exact
        if (seed != null) {
            Draws.from(Long.parseLong(seed.toString()));
        }
        partitioner = fresh();
    }

    @Override
    protected final Map<String, Object> take(String op, Map<String, Object> step) throws Exception {
        String topic = (String) step.get("topic");
        Cluster now = cluster();
        switch (op) {
            case "partition":
                byte[] key = bytes(step.get("key"));
                aboutToPlace(topic, key);
                return Map.of("partition", kafka(() -> partitioner.partition(topic, key, key, null, null, now)));
            case "new_batch":
                Integer previous = integer(step.get("previous"));
                if (ON_NEW_BATCH != null) {
                    kafka(() -> ON_NEW_BATCH.invoke(partitioner, topic, now, previous));
                }
                return Map.of();
            default:
                return super.take(op, step);
        }
    }
}
