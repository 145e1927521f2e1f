package kafkaoracle.producer_partition;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import kafkaoracle.cluster.Clusters;
import kafkaoracle.rule.Draws;
import kafkaoracle.rule.Rule;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * The private KafkaProducer.partition of a real producer. A producer is made offline, once for each configuration, and
 * closed at once: its choice of a partition needs no network thread, and none is left running.
 */
public final class ProducerPartitionRule extends Rule {
    private static final String TOPIC = "t";

    private final String release;
    private final Method partition;
    private final Map<String, KafkaProducer<byte[], byte[]>> producers = new HashMap<>();

    public ProducerPartitionRule(String release) {
        this.release = release;
        this.partition = Arrays.stream(KafkaProducer.class.getDeclaredMethods())
            .filter(method -> method.getName().equals("partition") && method.getParameterCount() == 4)
            .findFirst()
            .orElseThrow(() -> new IllegalStateException("KafkaProducer.partition is not where it was"));
        this.partition.setAccessible(true);
    }

    @Override
    protected Map<String, Object> answer(Map<String, Object> question) throws Exception {
        Map<?, ?> record = (Map<?, ?>) question.get("record");
        Map<?, ?> config = (Map<?, ?>) question.get("config");
        Map<?, ?> plugged = (Map<?, ?>) config.get("partitioner");
        List<?> draws = (List<?>) question.getOrDefault("draws", List.of());
        if (plugged != null) {
            CustomPartitioner.returns = integer(plugged.get("returns"));
        }
        KafkaProducer<byte[], byte[]> producer = producer(plugged != null, Boolean.TRUE.equals(config.get("ignore_keys")));
        Cluster cluster = Clusters.from(question.get("cluster"), Collections.singleton(TOPIC));
        byte[] key = bytes(record.get("key"));
        Integer explicit = record.get("partition") == null ? null : integer(record.get("partition"));

        int first = draws.isEmpty() ? 0 : integer(draws.get(0));
        boolean counts = startsAfresh(producer, first);
        Draws.next(first);
        try {
            return Map.of("partition", kafka(() -> partition.invoke(
                producer, new ProducerRecord<>(TOPIC, explicit, key, (byte[]) null), key, null, cluster)));
        } finally {
            boolean drew = Draws.used() > 0 || counts && explicit == null && key == null;
            if (drew && draws.isEmpty() || Draws.used() > 1) {
                throw new IllegalStateException("the question holds " + draws.size() + " draws and Kafka took "
                    + Math.max(1, Draws.used()) + ": add draws to it");
            }
        }
    }

    /**
     * Gives the producer a new default partitioner, so that no question sees what an earlier one left. Whether that
     * partitioner counts up from a java.util.Random, which only 0.10 does and whose start is therefore put in by hand.
     */
    private boolean startsAfresh(KafkaProducer<byte[], byte[]> producer, int start) throws ReflectiveOperationException {
        Field held = field(KafkaProducer.class, "partitioner");
        Object current = held == null ? null : held.get(producer);
        if (current == null || current instanceof CustomPartitioner) {
            return false;
        }
        Object fresh = current.getClass().getDeclaredConstructor().newInstance();
        held.set(producer, fresh);
        if (!release.startsWith("0.10.")) {
            return false;
        }
        Field one = field(fresh.getClass(), "counter");
        if (one != null) {
            ((AtomicInteger) one.get(fresh)).set(start);
        } else {
            @SuppressWarnings("unchecked")
            ConcurrentMap<String, AtomicInteger> each =
                (ConcurrentMap<String, AtomicInteger>) field(fresh.getClass(), "topicCounterMap").get(fresh);
            each.put(TOPIC, new AtomicInteger(start));
        }
        return true;
    }

    private KafkaProducer<byte[], byte[]> producer(boolean plugged, boolean ignoreKeys) throws ReflectiveOperationException {
        String name = "oracle-" + plugged + "-" + ignoreKeys;
        KafkaProducer<byte[], byte[]> made = producers.get(name);
        if (made == null) {
            Map<String, Object> config = new HashMap<>();
            config.put("bootstrap.servers", "127.0.0.1:9");
            config.put("client.id", name + "-" + release);
            config.put("reconnect.backoff.ms", "60000");
            if (ignoreKeys) {
                config.put("partitioner.ignore.keys", "true");
            }
            if (plugged) {
                config.put("partitioner.class", CustomPartitioner.class.getName());
            }
            made = new KafkaProducer<>(config, new ByteArraySerializer(), new ByteArraySerializer());
            close(made);
            producers.put(name, made);
        }
        return made;
    }

    private static void close(KafkaProducer<byte[], byte[]> producer) throws ReflectiveOperationException {
        try {
            KafkaProducer.class.getMethod("close", Duration.class).invoke(producer, Duration.ZERO);
        } catch (NoSuchMethodException older) {
            KafkaProducer.class.getMethod("close", long.class, TimeUnit.class).invoke(producer, 0L, TimeUnit.MILLISECONDS);
        }
    }

    private static Field field(Class<?> of, String name) {
        try {
            Field found = of.getDeclaredField(name);
            found.setAccessible(true);
            return found;
        } catch (NoSuchFieldException absent) {
            return null;
        }
    }
}
