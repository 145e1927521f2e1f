package kafkaoracle.default_partitioner;

import java.util.concurrent.ThreadLocalRandom;
import kafkaoracle.partitioner.PartitionerRule;
import kafkaoracle.partitioner.RoundRobinCounter;
import org.apache.kafka.clients.producer.Partitioner;
import org.apache.kafka.clients.producer.internals.DefaultPartitioner;

/**
 * DefaultPartitioner, up to 3.9.x. Since 0.11 it draws from ThreadLocalRandom. In 0.10 it counts, and here the counter's
 * start is the next draw of the seed when the counter is first needed.
 */
public final class DefaultPartitionerRule extends PartitionerRule {
    private final RoundRobinCounter counter;
    private DefaultPartitioner current;

    public DefaultPartitionerRule(String release) {
        counter = RoundRobinCounter.isUsedBy(release) ? new RoundRobinCounter(DefaultPartitioner.class) : null;
    }

    @Override
    protected Partitioner fresh() throws Exception {
        current = new DefaultPartitioner();
        if (counter != null && !counter.isPerTopic()) {
            counter.set(current, TOPIC, ThreadLocalRandom.current().nextInt());
        }
        return current;
    }

    @Override
    protected void aboutToPlace(String topic, byte[] key) throws Exception {
        // Without partitions it throws before it counts.
        if (counter != null && key == null && cluster().partitionsForTopic(topic) != null && !counter.isSet(current, topic)) {
            counter.set(current, topic, ThreadLocalRandom.current().nextInt());
        }
    }
}
