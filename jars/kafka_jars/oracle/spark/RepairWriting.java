package kafkaoracle.spark;

import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.spark.api.java.function.ForeachPartitionFunction;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;

/**
 * Writes the planned records of target partitions, a task for each. A task continues after the records that the partition
 * holds, which an earlier attempt or a killed run wrote, so a task can be repeated at any time. First it compares the last
 * record there with the plan's, which shows a foreign record anywhere before.
 *
 * Errors are exceptions of the JDK's: Spark's driver reads a task's exception with a class loader that does not have ours,
 * and would report "UnknownReason".
 */
public final class RepairWriting implements ForeachPartitionFunction<Row> {
    private static final long serialVersionUID = 1L;

    private final String topic;
    private final Map<String, String> kafka;
    private final long patienceMs;
    private final long bufferBytes;
    private final boolean checkOnly;
    private final HashMap<Integer, Long> bases = new HashMap<>();

    private RepairWriting(
            String topic,
            Map<String, String> kafka,
            Map<Integer, ? extends Number> bases,
            long patienceMs,
            long bufferBytes,
            boolean checkOnly) {
        this.topic = topic;
        this.kafka = kafka;
        bases.forEach((partition, base) -> this.bases.put(partition, base.longValue()));
        this.patienceMs = patienceMs;
        this.bufferBytes = bufferBytes;
        this.checkOnly = checkOnly;
    }

    /**
     * Writes all records. {@code kafka}: the clients' settings; {@code bases}: the offset of the first of these records, by
     * partition, which is the number of records that earlier passes have written; {@code patienceMs}: how long to wait for
     * an acknowledgement before giving up; {@code largest}: bytes of the largest record.
     */
    public static void write(
            Dataset<Row> planned,
            String topic,
            Map<String, String> kafka,
            Map<Integer, ? extends Number> bases,
            long patienceMs,
            long largest) {
        long buffer = Math.max(32L << 20, 2 * largest);
        planned.foreachPartition(new RepairWriting(topic, new HashMap<>(kafka), bases, patienceMs, buffer, false));
    }

    /**
     * Compares the last record of each partition with the plan's, as {@link #write} does, and writes nothing. A task of
     * {@code write} knows its own partition alone: it would refuse while other tasks have written theirs.
     */
    public static void check(
            Dataset<Row> planned,
            String topic,
            Map<String, String> kafka,
            Map<Integer, ? extends Number> bases,
            long patienceMs) {
        planned.foreachPartition(new RepairWriting(topic, new HashMap<>(kafka), bases, patienceMs, 0, true));
    }

    @Override
    public void call(Iterator<Row> rows) throws Exception {
        if (!rows.hasNext()) {
            return;
        }
        RepairPlan plan = new RepairPlan(rows, bases);
        long written = skipWritten(plan);
        if (checkOnly || !plan.hasNext()) {
            return;
        }
        try (RepairProducer producer = new RepairProducer(topic, plan.target, written, kafka, patienceMs, bufferBytes)) {
            while (plan.hasNext()) {
                producer.send(plan.next());
            }
            producer.finish();
        }
    }

    /** Skips the plan's records that are in the target and returns its end offset. */
    private long skipWritten(RepairPlan plan) {
        TopicPartition target = new TopicPartition(topic, plan.target);
        Map<String, Object> settings = new HashMap<>(kafka);
        settings.put("enable.auto.commit", "false");
        settings.put("auto.offset.reset", "none");
        settings.put("allow.auto.create.topics", "false");
        settings.put("isolation.level", "read_uncommitted");
        settings.put("max.poll.records", "1");
        settings.remove("group.id");
        Duration patience = Duration.ofMillis(patienceMs);
        try (var consumer =
                new KafkaConsumer<>(settings, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            long written = consumer.endOffsets(List.of(target), patience).get(target);
            if (written == plan.base) {
                return written;
            }
            long first = consumer.beginningOffsets(List.of(target), patience).get(target);
            Row planned = plan.skip(written);
            consumer.assign(List.of(target));
            consumer.seek(target, written - 1);
            var found = first <= plan.base ? consumer.poll(patience).records(target) : List.<ConsumerRecord<byte[], byte[]>>of();
            if (found.isEmpty() || !same(found.get(0), planned, written - 1)) {
                throw new IllegalStateException("partition " + plan.target + " of " + topic + " does not hold the plan's record "
                        + (written - 1) + " at offset " + (written - 1)
                        + ": another client has written to it or deleted from it; delete the topic and start again, in another folder");
            }
            return written;
        }
    }

    private static boolean same(ConsumerRecord<byte[], byte[]> found, Row planned, long offset) {
        return found.offset() == offset
                && found.timestamp() == planned.getLong(4)
                && Arrays.equals(found.key(), planned.<byte[]>getAs(5))
                && Arrays.equals(found.value(), planned.<byte[]>getAs(6))
                && sameHeaders(found.headers().toArray(), planned.isNullAt(7) ? List.of() : planned.<Row>getList(7));
    }

    private static boolean sameHeaders(Header[] found, List<Row> planned) {
        boolean same = found.length == planned.size();
        for (int i = 0; same && i < found.length; i++) {
            same = Objects.equals(found[i].key(), planned.get(i).getString(0))
                    && Arrays.equals(found[i].value(), planned.get(i).<byte[]>getAs(1));
        }
        return same;
    }
}
