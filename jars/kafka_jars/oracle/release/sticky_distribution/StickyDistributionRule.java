package kafkaoracle.sticky_distribution;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import kafkaoracle.cluster.Clusters;
import kafkaoracle.rule.Draws;
import kafkaoracle.rule.Rule;
import org.apache.kafka.clients.producer.Partitioner;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.PartitionInfo;

/**
 * Many records without a key: the producer's loop around Kafka's own partitioners, with batches reduced to counts.
 *
 * The loop is KafkaProducer.doSend and RecordAccumulator.append of the era: what exists in the release decides. Where
 * there is onNewBatch, the producer calls it and asks a second time. A partitioner the release does not have is a
 * ClassNotFoundException, which means "unsupported".
 */
public final class StickyDistributionRule extends Rule {
    private static final String TOPIC = "t";
    private static final String PRODUCER = "org.apache.kafka.clients.producer.";
    private static final Map<String, String> CLASSES = Map.of(
        "default", PRODUCER + "internals.DefaultPartitioner",
        "uniform-sticky", PRODUCER + "UniformStickyPartitioner",
        "round-robin", PRODUCER + "RoundRobinPartitioner",
        "builtin", PRODUCER + "internals.BuiltInPartitioner");
    private static final Method ON_NEW_BATCH = method(Partitioner.class, "onNewBatch", 3);

    private final boolean startsByHand;

    public StickyDistributionRule(String release) {
        startsByHand = release.startsWith("0.10.");
    }

    @Override
    protected Map<String, Object> answer(Map<String, Object> question) throws Exception {
        Class<?> partitioner = Class.forName(CLASSES.get((String) question.get("partitioner")));
        Cluster cluster = Clusters.from(question.get("cluster"), Collections.singleton(TOPIC));
        Batches batches = new Batches(question);
        int records = integer(question.get("records"));
        Draws.from(Long.parseLong(question.get("seed").toString()));
        long switches = question.get("partitioner").equals("builtin")
            ? new BuiltIn(partitioner, question, cluster).send(records, batches)
            : send(fresh(partitioner), records, cluster, batches);
        return Map.of("counts", batches.counts(), "switches", switches);
    }

    /** The loop around a partitioner that is plugged in, or was the default to 3.2. */
    private static long send(Partitioner partitioner, int records, Cluster cluster, Batches batches) throws Exception {
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

    /** In 0.10 a counter starts at what a java.util.Random of its own says, so there the first draw is put in by hand. */
    @SuppressWarnings("unchecked")
    private Partitioner fresh(Class<?> of) throws ReflectiveOperationException {
        Partitioner made = (Partitioner) of.getConstructor().newInstance();
        if (startsByHand) {
            int first = ThreadLocalRandom.current().nextInt();
            Field counter = Arrays.stream(of.getDeclaredFields())
                .filter(field -> field.getName().equals("counter") || field.getName().equals("topicCounterMap"))
                .findFirst()
                .orElseThrow(() -> new IllegalStateException("DefaultPartitioner's counter is not where it was"));
            counter.setAccessible(true);
            if (counter.get(made) instanceof AtomicInteger one) {
                one.set(first);
            } else {
                ((ConcurrentMap<String, AtomicInteger>) counter.get(made)).put(TOPIC, new AtomicInteger(first));
            }
        }
        return made;
    }

    private static Method method(Class<?> of, String name, int parameters) {
        Method found = Arrays.stream(of.getDeclaredMethods())
            .filter(method -> method.getName().equals(name) && method.getParameterCount() == parameters)
            .findFirst()
            .orElse(null);
        if (found != null) {
            found.setAccessible(true);
        }
        return found;
    }

    private static List<Integer> integers(Object list) {
        List<Integer> found = new ArrayList<>();
        for (Object each : (List<?>) list) {
            found.add(each == null ? null : Rule.integer(each));
        }
        return found;
    }

    /** The last batch of each partition. A batch's age is counted in all the producer's records. */
    private static final class Batches {
        private final int full;
        private final Map<Integer, Integer> drainAfter = new HashMap<>();
        private final Map<Integer, int[]> last = new HashMap<>();
        private final Map<Integer, int[]> counts = new TreeMap<>();

        Batches(Map<String, Object> question) {
            full = Rule.integer(question.get("batch_records"));
            List<?> partitions = (List<?>) ((Map<?, ?>) question.get("cluster")).get("partitions");
            Object ages = question.get("drain_after");
            if (ages != null) {
                List<Integer> each = integers(ages);
                for (int place = 0; place < partitions.size(); place++) {
                    drainAfter.put(Rule.integer(((Map<?, ?>) partitions.get(place)).get("id")), each.get(place));
                }
            }
        }

        boolean isOpen(int partition, int now) {
            int[] heldAndOpened = last.get(partition);
            Integer drained = drainAfter.get(partition);
            return heldAndOpened != null
                && heldAndOpened[0] < full
                && (drained == null || now - heldAndOpened[1] < drained);
        }

        /** Whether the batch is full with this record. */
        boolean append(int partition, int now) {
            if (!isOpen(partition, now)) {
                last.put(partition, new int[] {0, now});
            }
            counts.computeIfAbsent(partition, none -> new int[1])[0]++;
            return ++last.get(partition)[0] >= full;
        }

        List<Object> counts() {
            List<Object> found = new ArrayList<>();
            counts.forEach((partition, count) -> found.add(List.of(partition, count[0])));
            return found;
        }
    }

    /** The loop around BuiltInPartitioner, whose methods are for its own package and gained parameters in 4.4.0. */
    private static final class BuiltIn {
        private final Cluster cluster;
        private final Object partitioner;
        private final Method peek;
        private final Method isChanged;
        private final Method update;
        private final Method partition;

        BuiltIn(Class<?> of, Map<String, Object> question, Cluster cluster) throws Exception {
            this.cluster = cluster;
            var constructor = of.getConstructors()[0];
            Object logContext = constructor.getParameterTypes()[0].getConstructor().newInstance();
            int batchSize = Rule.integer(question.get("batch_records"));
            boolean knowsRacks = constructor.getParameterCount() == 5;
            partitioner = kafka(() -> knowsRacks
                ? constructor.newInstance(logContext, TOPIC, batchSize, false, "")
                : constructor.newInstance(logContext, TOPIC, batchSize));
            peek = there(of, "peekCurrentPartitionInfo", 1);
            isChanged = there(of, "isPartitionChanged", 1);
            update = there(of, "updatePartitionInfo", 4);
            partition = there(peek.getReturnType(), "partition", 0);
            if (question.get("queue_sizes") != null) {
                load(there(of, "updatePartitionLoadStats", knowsRacks ? 4 : 3), integers(question.get("queue_sizes")));
            }
        }

        /** As the accumulator does: partitions without a leader are left out. */
        private void load(Method load, List<Integer> given) throws Exception {
            int[] sizes = new int[given.size()];
            int[] ids = new int[given.size()];
            int length = 0;
            List<PartitionInfo> partitions = cluster.partitionsForTopic(TOPIC);
            for (int place = 0; place < sizes.length; place++) {
                if (partitions.get(place).leader() != null) {
                    sizes[length] = given.get(place);
                    ids[length++] = partitions.get(place).partition();
                }
            }
            int counted = length;
            kafka(() -> load.getParameterCount() == 4
                ? load.invoke(partitioner, sizes, ids, new String[sizes.length], counted)
                : load.invoke(partitioner, sizes, ids, counted));
        }

        long send(int records, Batches batches) throws Exception {
            long switches = 0;
            for (int now = 0; now < records; now++) {
                Object info = peek();
                while (!batches.isOpen(partition(info), now)) {
                    if (!isOverAfter(info, 0, true)) {
                        break;
                    }
                    switches++;
                    info = peek();
                }
                boolean full = batches.append(partition(info), now);
                switches += isOverAfter(info, 1, full) ? 1 : 0;
            }
            return switches;
        }

        private Object peek() throws Exception {
            return kafka(() -> peek.invoke(partitioner, cluster));
        }

        private boolean isOverAfter(Object info, int bytes, boolean enableSwitch) throws Exception {
            kafka(() -> update.invoke(partitioner, info, bytes, cluster, enableSwitch));
            return (Boolean) isChanged.invoke(partitioner, info);
        }

        private int partition(Object info) throws ReflectiveOperationException {
            return (Integer) partition.invoke(info);
        }

        private static Method there(Class<?> of, String name, int parameters) {
            Method found = method(of, name, parameters);
            if (found == null) {
                throw new IllegalStateException(of.getSimpleName() + "." + name + " is not where it was");
            }
            return found;
        }
    }
}
