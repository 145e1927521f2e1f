package kafkaoracle.partitioner;

import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import kafkaoracle.reflection.Members;
import kafkaoracle.rule.Rule;
import org.apache.kafka.common.Cluster;

/**
 * BuiltInPartitioner, since 3.3.0, for one topic. Some of its methods are package-private, and 4.4.0 gave others further
 * parameters (racks), so all are called by reflection. What Kafka throws becomes the answer.
 */
public final class BuiltInPartitionerAccess {
    private static final String NAME = "org.apache.kafka.clients.producer.internals.BuiltInPartitioner";

    private final Object partitioner;
    private final Method peek;
    private final Method update;
    private final Method isChanged;
    private final Method load;
    private final Method partition;

    /** Throws ClassNotFoundException in a release without it. */
    public BuiltInPartitionerAccess(String topic, int batchSize, boolean rackAware, String rack) throws Exception {
        Class<?> type = Class.forName(NAME);
        Constructor<?> constructor = type.getConstructors()[0];
        Object logContext = constructor.getParameterTypes()[0].getConstructor().newInstance();
        partitioner = Rule.kafka(() -> constructor.getParameterCount() == 5
            ? constructor.newInstance(logContext, topic, batchSize, rackAware, rack)
            : constructor.newInstance(logContext, topic, batchSize));
        peek = Members.method(type, "peekCurrentPartitionInfo", 1);
        update = Members.method(type, "updatePartitionInfo", 4);
        isChanged = Members.method(type, "isPartitionChanged", 1);
        load = Members.method(type, "updatePartitionLoadStats");
        partition = Members.method(peek.getReturnType(), "partition", 0);
    }

    /** The StickyPartitionInfo of the current partition. */
    public Object peek(Cluster cluster) throws Exception {
        return Rule.kafka(() -> peek.invoke(partitioner, cluster));
    }

    public int partition(Object info) throws ReflectiveOperationException {
        return (Integer) partition.invoke(info);
    }

    public void update(Object info, int bytes, Cluster cluster, boolean enableSwitch) throws Exception {
        Rule.kafka(() -> update.invoke(partitioner, info, bytes, cluster, enableSwitch));
    }

    /** Whether the partitioner has left the stay that {@code info} describes. */
    public boolean isChanged(Object info) throws ReflectiveOperationException {
        return (Boolean) isChanged.invoke(partitioner, info);
    }

    public void load(int[] queueSizes, int[] partitions, String[] racks, int length) throws Exception {
        Rule.kafka(() -> load.getParameterCount() == 4
            ? load.invoke(partitioner, queueSizes, partitions, racks, length)
            : load.invoke(partitioner, queueSizes, partitions, length));
    }

    /** The end of the range of the load statistics, or null if there are none. */
    public Object rangeEnd() throws ReflectiveOperationException {
        try {
            return Members.call(partitioner, "loadStatsRangeEnd");
        } catch (InvocationTargetException thrown) {
            if (thrown.getCause() instanceof NullPointerException) {
                return null;
            }
            throw thrown;
        }
    }
}
