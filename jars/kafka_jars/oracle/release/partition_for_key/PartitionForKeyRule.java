package kafkaoracle.partition_for_key;

import java.nio.ByteBuffer;
import java.util.Map;
import java.util.function.ToLongBiFunction;
import kafkaoracle.rule.KeyColumn;
import kafkaoracle.rule.Rule;
import org.apache.kafka.clients.producer.internals.BuiltInPartitioner;

/** BuiltInPartitioner.partitionForKey, since 3.3.0. */
public final class PartitionForKeyRule extends Rule implements ToLongBiFunction<ByteBuffer, ByteBuffer> {

    public PartitionForKeyRule(String release) {
    }

    @Override
    protected Map<String, Object> answer(Map<String, Object> question) throws Exception {
        byte[] key = bytes(question.get("key"));
        int partitions = integer(question.get("partitions"));
        return Map.of("partition", kafka(() -> BuiltInPartitioner.partitionForKey(key, partitions)));
    }

    @Override
    public long applyAsLong(ByteBuffer in, ByteBuffer out) {
        KeyColumn keys = new KeyColumn(in);
        int partitions = keys.argument();
        return keys.each(out, key -> BuiltInPartitioner.partitionForKey(key, partitions));
    }
}
