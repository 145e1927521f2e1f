package kafkaoracle.default_partitioner;

import java.lang.reflect.Field;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import kafkaoracle.partitioner.PartitionerRule;
import kafkaoracle.rule.Draws;
import org.apache.kafka.clients.producer.Partitioner;
import org.apache.kafka.clients.producer.internals.DefaultPartitioner;
import org.apache.kafka.common.PartitionInfo;

/**
 * DefaultPartitioner, to 3.9.x. From 0.11 on it draws from ThreadLocalRandom. In 0.10 a counter starts at whatever a
 * java.util.Random of its own says, so there the start is put in by hand: the next draw of the seed, when the counter
 * is first needed. To 0.10.1 there is one counter, in 0.10.2 one for each topic.
 */
public final class DefaultPartitionerRule extends PartitionerRule {
    private final Field counter;
    private final Field counters;
    private DefaultPartitioner current;

    public DefaultPartitionerRule(String release) {
        boolean byHand = release.startsWith("0.10.");
        counter = byHand ? field("counter") : null;
        counters = byHand ? field("topicCounterMap") : null;
        if (byHand && counter == null && counters == null) {
            throw new IllegalStateException("DefaultPartitioner's counter is not where it was");
        }
    }

    @Override
    protected Partitioner fresh(Map<String, Object> question) throws Exception {
        Draws.from(seed(question));
        current = new DefaultPartitioner();
        if (counter != null) {
            ((AtomicInteger) counter.get(current)).set(draw());
        }
        return current;
    }

    @Override
    @SuppressWarnings("unchecked")
    protected void aboutToPlace(String topic, byte[] key) throws Exception {
        if (counters == null || key != null) {
            return;
        }
        List<PartitionInfo> partitions = cluster().partitionsForTopic(topic);
        ConcurrentMap<String, AtomicInteger> each = (ConcurrentMap<String, AtomicInteger>) counters.get(current);
        if (partitions != null && !each.containsKey(topic)) { // without partitions it raises before it counts
            each.put(topic, new AtomicInteger(draw()));
        }
    }

    private static int draw() {
        return ThreadLocalRandom.current().nextInt();
    }

    private static Field field(String name) {
        try {
            Field found = DefaultPartitioner.class.getDeclaredField(name);
            found.setAccessible(true);
            return found;
        } catch (NoSuchFieldException absent) {
            return null;
        }
    }
}
