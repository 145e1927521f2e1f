package kafkaoracle.partition_for_key;

import java.lang.reflect.Field;
import java.nio.ByteBuffer;
import java.util.AbstractList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.function.ToLongBiFunction;
import kafkaoracle.cluster.Clusters;
import kafkaoracle.rule.KeyColumn;
import kafkaoracle.rule.Rule;
import org.apache.kafka.clients.producer.internals.DefaultPartitioner;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.utils.Utils;

/**
 * The same rule before 3.3.0, where it has no method of its own: it is what DefaultPartitioner does with a key, over
 * the size of the topic's list of partitions. The list is ours, so that it can have any size an int can name. A null
 * key is no question for that class (it would go round-robin or sticky), so it is put to the hash the rule begins with.
 */
public final class PartitionForKeyByDefaultPartitioner extends Rule implements ToLongBiFunction<ByteBuffer, ByteBuffer> {
    private static final String TOPIC = "t";

    private final DefaultPartitioner partitioner = new DefaultPartitioner();
    private final Cluster cluster = Clusters.of(Collections.emptyList(), Collections.emptyList());
    private int partitions;

    public PartitionForKeyByDefaultPartitioner(String release) throws ReflectiveOperationException {
        Field byTopic = Cluster.class.getDeclaredField("partitionsByTopic");
        byTopic.setAccessible(true);
        byTopic.set(cluster, Collections.singletonMap(TOPIC, listOfAnySize()));
    }

    @Override
    protected Map<String, Object> answer(Map<String, Object> question) throws Exception {
        byte[] key = bytes(question.get("key"));
        partitions = integer(question.get("partitions"));
        return Map.of("partition", kafka(() -> key == null ? Utils.murmur2(null) : forKey(key)));
    }

    @Override
    public long applyAsLong(ByteBuffer in, ByteBuffer out) {
        KeyColumn keys = new KeyColumn(in);
        partitions = keys.argument();
        return keys.each(out, this::forKey);
    }

    private int forKey(byte[] key) {
        return partitioner.partition(TOPIC, key, key, null, null, cluster);
    }

    private List<PartitionInfo> listOfAnySize() {
        return new AbstractList<>() {
            @Override
            public PartitionInfo get(int index) {
                throw new UnsupportedOperationException("a keyed record looks at the size only");
            }

            @Override
            public int size() {
                return partitions;
            }
        };
    }
}
