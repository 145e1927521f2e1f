package kafkaoracle.partitioner;

import java.lang.reflect.Field;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicInteger;
import kafkaoracle.reflection.Members;

/**
 * The counter of 0.10's DefaultPartitioner: one for all topics up to 0.10.1, one for each topic in 0.10.2.
 *
 * Kafka draws its start from a separate java.util.Random, so this class sets the start by reflection.
 */
public final class RoundRobinCounter {
    private final Field counter;
    private final Field counters;

    /** {@code partitioner} is DefaultPartitioner. */
    public RoundRobinCounter(Class<?> partitioner) {
        counter = Members.field(partitioner, "counter");
        counters = Members.field(partitioner, "topicCounterMap");
        if (counter == null && counters == null) {
            throw new IllegalStateException("DefaultPartitioner has neither the field counter nor topicCounterMap");
        }
    }

    public static boolean isUsedBy(String release) {
        return release.startsWith("0.10.");
    }

    public boolean isPerTopic() {
        return counters != null;
    }

    public boolean isSet(Object partitioner, String topic) throws ReflectiveOperationException {
        return !isPerTopic() || perTopic(partitioner).containsKey(topic);
    }

    public void set(Object partitioner, String topic, int start) throws ReflectiveOperationException {
        if (isPerTopic()) {
            perTopic(partitioner).put(topic, new AtomicInteger(start));
        } else {
            ((AtomicInteger) counter.get(partitioner)).set(start);
        }
    }

    @SuppressWarnings("unchecked")
    private ConcurrentMap<String, AtomicInteger> perTopic(Object partitioner) throws ReflectiveOperationException {
        return (ConcurrentMap<String, AtomicInteger>) counters.get(partitioner);
    }
}
