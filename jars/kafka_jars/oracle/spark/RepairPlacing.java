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
 * Assigns each record of a topic to its partition in the repaired topic: with a key, the partition that Kafka's own producer
 * chooses; without one, the same partition, or its offset modulo the new count if there is no such partition.
 *
 * Partitions are merged by a time: the greatest timestamp of the record and of those before it in its partition. It never
 * descends within a partition, so sorting by it keeps each partition's own order. That needs a partition's records in order
 * and in one task, which is how Spark's connector reads them unless it is configured to split partitions.
 */
public final class RepairPlacing implements MapPartitionsFunction<Row, Row> {
    /** The seed of Spark's hash partitioning. */
    private static final int SPARKS_SEED = 42;

    private final int partitions;
    private final int[] slots;

    private RepairPlacing(int partitions) {
        this.partitions = partitions;
        this.slots = slots(partitions);
    }

    /**
     * Adds to records of (partition, offset, timestamp_ms, key, value, headers) their {@code target} partition and {@code
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

            private void follow(int from, long its, long timestamp) {
                if (timestamp < 0) {
                    throw new IllegalStateException("partition " + from + ", offset " + its + " has no timestamp, and Java's"
                            + " producer would give it the present time: this topic cannot be rewritten as it is");
                }
                if (partition != -1 && (from != partition || its <= offset)) {
                    throw new IllegalStateException("Spark gave a task offset " + its + " of partition " + from + " after offset "
                            + offset + " of partition " + partition + ": the order of records would be lost");
                }
                partition = from;
                offset = its;
                time = Math.max(time, timestamp);
            }
        };
    }

    /** For each partition, a number that Spark's hash partitioning sends there. */
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
