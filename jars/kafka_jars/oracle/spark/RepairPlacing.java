package kafkaoracle.spark;

import java.util.Iterator;
import org.apache.kafka.clients.producer.internals.BuiltInPartitioner;
import org.apache.spark.api.java.function.MapPartitionsFunction;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.hash.Murmur3_x86_32;

/**
 * Where each record of a topic goes when the topic is repaired: with a key, where Kafka's own producer puts it; without
 * one, where it is, or, if the new topic has no such partition, at its offset modulo the new count.
 *
 * The time by which partitions are merged is the greatest timestamp of the record and those before it in its partition,
 * so that it never descends there: sorted by it, each partition's own order stays. That needs a partition's records in
 * order and in one task, which is how Spark's connector reads them unless it is told to split partitions.
 */
public final class RepairPlacing implements MapPartitionsFunction<Row, Row> {
    /** What Spark's hash partitioning starts with. */
    private static final int SPARKS_SEED = 42;

    private final int partitions;
    private final int[] slots;

    private RepairPlacing(int partitions) {
        this.partitions = partitions;
        this.slots = slots(partitions);
    }

    /**
     * Records of (partition, offset, timestamp_ms, key, value, headers) with where they go: {@code target} and {@code
     * time}. {@code slot} is a number that Spark's hash partitioning into as many partitions sends to partition
     * {@code target}.
     */
    public static Dataset<Row> placed(Dataset<Row> read, int partitions) {
        StructType schema = new StructType()
                .add("slot", DataTypes.IntegerType, false)
                .add("target", DataTypes.IntegerType, false)
                .add("time", DataTypes.LongType, false);
        for (var field : read.schema().fields()) {
            schema = schema.add(field);
        }
        return read.mapPartitions(new RepairPlacing(partitions), Encoders.row(schema));
    }

    @Override
    public Iterator<Row> call(Iterator<Row> rows) {
        return new Iterator<>() {
            private int partition = -1;
            private long offset = -1;
            private long time = Long.MIN_VALUE;

            @Override
            public boolean hasNext() {
                return rows.hasNext();
            }

            @Override
            public Row next() {
                Row row = rows.next();
                follow(row.getInt(0), row.getLong(1), row.getLong(2));
                byte[] key = row.getAs(3);
                int target = key == null ? keyless() : BuiltInPartitioner.partitionForKey(key, partitions);
                return RowFactory.create(
                        slots[target], target, time, partition, offset, row.getLong(2), key, row.get(4), row.get(5));
            }

            private int keyless() {
                return partition < partitions ? partition : (int) (offset % partitions);
            }

            private void follow(int at, long its, long timestamp) {
                if (timestamp < 0) {
                    throw new IllegalStateException("partition " + at + ", offset " + its + " has no timestamp, and Java's"
                            + " producer would give it the present time: this topic cannot be rewritten as it is");
                }
                if (partition != -1 && (at != partition || its <= offset)) {
                    throw new IllegalStateException("Spark gave a task offset " + its + " of partition " + at + " after offset "
                            + offset + " of partition " + partition + ": the order of records would be lost");
                }
                partition = at;
                offset = its;
                time = Math.max(time, timestamp);
            }
        };
    }

    /** For each partition a number whose hash leads there. */
    private static int[] slots(int partitions) {
        int[] slots = new int[partitions];
        boolean[] has = new boolean[partitions];
        for (int number = 0, missing = partitions; missing > 0; number++) {
            int partition = Math.floorMod(Murmur3_x86_32.hashInt(number, SPARKS_SEED), partitions);
            if (!has[partition]) {
                has[partition] = true;
                slots[partition] = number;
                missing--;
            }
        }
        return slots;
    }
}
