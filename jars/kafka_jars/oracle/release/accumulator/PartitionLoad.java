package kafkaoracle.accumulator;

import java.util.Arrays;
import java.util.Map;
import kafkaoracle.reflection.Members;

/** The load statistics of a topic's BuiltInPartitioner, since 4.4.0 those of all racks together. */
final class PartitionLoad {
    private PartitionLoad() {
    }

    /** {@code topicInfo} is what the accumulator keeps for the topic; null if it has no statistics. */
    static Map<String, Object> describe(Object topicInfo) throws ReflectiveOperationException {
        Object partitioner = Members.get(topicInfo, "builtInPartitioner");
        boolean held = Members.field(partitioner.getClass(), "partitionLoadStats") == null;
        Object stats = Members.get(partitioner, held ? "partitionLoadStatsHolder" : "partitionLoadStats");
        if (held && stats != null) {
            stats = Members.get(stats, "total");
        }
        if (stats == null) {
            return null;
        }
        int length = (Integer) Members.get(stats, "length");
        int[] table = Arrays.copyOf((int[]) Members.get(stats, "cumulativeFrequencyTable"), length);
        int[] partitions = Arrays.copyOf((int[]) Members.get(stats, "partitionIds"), length);
        return Map.of("range_end", table[length - 1], "partition_ids", partitions, "cumulative", table);
    }
}
