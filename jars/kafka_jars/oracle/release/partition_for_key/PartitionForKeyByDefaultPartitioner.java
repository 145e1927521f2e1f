package kafkaoracle.partition_for_key;

import java.nio.ByteBuffer;
import java.util.AbstractList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.function.ToLongBiFunction;
import kafkaoracle.cluster.Clusters;
import kafkaoracle.reflection.Members;
import kafkaoracle.rule.KeyColumn;
import kafkaoracle.rule.Rule;
import org.apache.kafka.clients.producer.internals.DefaultPartitioner;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.utils.Utils;

/**
 * partition-for-key before 3.3.0, where there is no such method: DefaultPartitioner.partition with a key, over a topic whose
 * list of partitions is ours, so that its size can be any int.
 *
 * DefaultPartitioner treats a null key as none (round robin or sticky), so a null key is put to Utils.murmur2, with which
 * the rule begins.
 */
public final class PartitionForKeyByDefaultPartitioner extends Rule implements ToLongBiFunction<ByteBuffer, ByteBuffer> {
    private static final String TOPIC = "t";

    private final DefaultPartitioner partitioner = new DefaultPartitioner();
    private final Cluster cluster = Clusters.of(Collections.emptyList(), Collections.emptyList());
    private int partitions;

    public PartitionForKeyByDefaultPartitioner(String release) throws ReflectiveOperationException {
        Members.set(cluster, "partitionsByTopic", Collections.singletonMap(TOPIC, listOfAnySize()));
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
