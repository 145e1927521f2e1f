package kafkaoracle.sticky_distribution;

import java.lang.reflect.Method;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ThreadLocalRandom;
import kafkaoracle.cluster.Clusters;
import kafkaoracle.partitioner.BuiltInPartitionerAccess;
import kafkaoracle.partitioner.RoundRobinCounter;
import kafkaoracle.reflection.Members;
import kafkaoracle.rule.Draws;
import kafkaoracle.rule.Rule;
import org.apache.kafka.clients.producer.Partitioner;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.PartitionInfo;

/**
 * Many records without a key: the producer's loop around Kafka's own partitioners, with batches reduced to counts.
 *
 * The loop, KafkaProducer.doSend and RecordAccumulator.append, is written here a second time, since a question can have
 * millions of records. Where there is onNewBatch, the producer calls it and asks the partitioner again. A partitioner that
 * the release does not have is a ClassNotFoundException, which makes the question unsupported.
 */
public final class StickyDistributionRule extends Rule {
    private static final String TOPIC = "t";
    private static final String PRODUCER = "org.apache.kafka.clients.producer.";
    private static final Map<String, String> CLASSES = Map.of(
        "default", PRODUCER + "internals.DefaultPartitioner",
        "uniform-sticky", PRODUCER + "UniformStickyPartitioner",
        "round-robin", PRODUCER + "RoundRobinPartitioner");
    private static final Method ON_NEW_BATCH = Members.method(Partitioner.class, "onNewBatch");

    private final String release;

    public StickyDistributionRule(String release) {
        this.release = release;
    }

    @Override
    protected Map<String, Object> answer(Map<String, Object> question) throws Exception {
        String name = (String) question.get("partitioner");
        Cluster cluster = Clusters.from(question.get("cluster"), Collections.singleton(TOPIC));
        BatchCounts batches = new BatchCounts(question);
        int records = integer(question.get("records"));
        Draws.from(Long.parseLong(question.get("seed").toString()));
        long switches;
        if (name.equals("builtin")) {
            var partitioner = new BuiltInPartitionerAccess(TOPIC, integer(question.get("batch_records")), false, "");
            load(partitioner, (List<?>) question.get("queue_sizes"), cluster);
            switches = send(partitioner, records, cluster, batches);
        } else {
            switches = send(partitioner(Class.forName(CLASSES.get(name))), records, cluster, batches);
        }
        return Map.of("counts", batches.counts(), "switches", switches);
    }

    /** The loop around a partitioner that is configured, or was the default up to 3.2; returns the new batches announced. */
    private static long send(Partitioner partitioner, int records, Cluster cluster, BatchCounts batches) throws Exception {
        Callable<Integer> place = () -> partitioner.partition(TOPIC, null, null, null, null, cluster);
        long switches = 0;
        for (int now = 0; now < records; now++) {
            int partition = kafka(place);
            if (ON_NEW_BATCH != null && !batches.isOpen(partition, now)) {
                int previous = partition;
                kafka(() -> ON_NEW_BATCH.invoke(partitioner, TOPIC, cluster, previous));
                switches++;
                partition = kafka(place);
            }
            batches.append(partition, now);
        }
        return switches;
    }

    /** The loop around BuiltInPartitioner; returns the stays at a partition that it ended. */
    private static long send(BuiltInPartitionerAccess partitioner, int records, Cluster cluster, BatchCounts batches)
        throws Exception {
        long switches = 0;
        for (int now = 0; now < records; now++) {
            Object info = partitioner.peek(cluster);
            while (!batches.isOpen(partitioner.partition(info), now)) {
                partitioner.update(info, 0, cluster, true);
                if (!partitioner.isChanged(info)) {
                    break;
                }
                switches++;
                info = partitioner.peek(cluster);
            }
            partitioner.update(info, 1, cluster, batches.append(partitioner.partition(info), now));
            switches += partitioner.isChanged(info) ? 1 : 0;
        }
        return switches;
    }

    /** As the accumulator loads them: partitions without a leader are left out. */
    private static void load(BuiltInPartitionerAccess partitioner, List<?> queueSizes, Cluster cluster) throws Exception {
        if (queueSizes == null) {
            return;
        }
        int[] sizes = new int[queueSizes.size()];
        int[] ids = new int[sizes.length];
        int length = 0;
        List<PartitionInfo> partitions = cluster.partitionsForTopic(TOPIC);
        for (int place = 0; place < sizes.length; place++) {
            if (partitions.get(place).leader() != null) {
                sizes[length] = integer(queueSizes.get(place));
                ids[length++] = partitions.get(place).partition();
            }
        }
        partitioner.load(sizes, ids, new String[sizes.length], length);
    }

    /** A new partitioner; the counter of 0.10 starts at the first draw. */
    private Partitioner partitioner(Class<?> type) throws ReflectiveOperationException {
        Partitioner made = (Partitioner) type.getConstructor().newInstance();
        if (RoundRobinCounter.isUsedBy(release)) {
            new RoundRobinCounter(type).set(made, TOPIC, ThreadLocalRandom.current().nextInt());
        }
        return made;
    }
}
