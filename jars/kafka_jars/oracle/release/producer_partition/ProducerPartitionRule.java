package kafkaoracle.producer_partition;

import java.lang.reflect.Method;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import kafkaoracle.cluster.Clusters;
import kafkaoracle.partitioner.RoundRobinCounter;
import kafkaoracle.reflection.Members;
import kafkaoracle.rule.Draws;
import kafkaoracle.rule.ProducerClose;
import kafkaoracle.rule.QuestionDraws;
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
    private final Method partition = Members.method(KafkaProducer.class, "partition", 4);
    private final Map<String, KafkaProducer<byte[], byte[]>> producers = new HashMap<>();

    public ProducerPartitionRule(String release) {
        this.release = release;
    }

    @Override
    protected Map<String, Object> answer(Map<String, Object> question) throws Exception {
        Map<?, ?> record = (Map<?, ?>) question.get("record");
        Map<?, ?> config = (Map<?, ?>) question.get("config");
        Map<?, ?> custom = (Map<?, ?>) config.get("partitioner");
        List<?> draws = (List<?>) question.getOrDefault("draws", List.of());
        if (custom != null) {
            CustomPartitioner.returns = integer(custom.get("returns"));
        }
        KafkaProducer<byte[], byte[]> producer = producer(custom != null, Boolean.TRUE.equals(config.get("ignore_keys")));
        Cluster cluster = Clusters.from(question.get("cluster"), Collections.singleton(TOPIC));
        byte[] key = bytes(record.get("key"));
        Integer explicit = record.get("partition") == null ? null : integer(record.get("partition"));

        int first = draws.isEmpty() ? 0 : integer(draws.get(0));
        boolean counts = resetPartitioner(producer, first);
        Draws.next(first);
        try {
            return Map.of("partition", kafka(() -> partition.invoke(
                producer, new ProducerRecord<>(TOPIC, explicit, key, (byte[]) null), key, null, cluster)));
        } finally {
            boolean drew = Draws.used() > 0 || counts && explicit == null && key == null;
            if (drew && draws.isEmpty() || Draws.used() > 1) {
                throw QuestionDraws.tooFew(draws.size(), Math.max(1, Draws.used()));
            }
        }
    }

    /**
     * Gives the producer a new default partitioner, so that no question sees what an earlier one left.
     *
     * Returns whether that partitioner counts up from a start that was put in here.
     */
    private boolean resetPartitioner(KafkaProducer<byte[], byte[]> producer, int start) throws ReflectiveOperationException {
        Object current = Members.field(KafkaProducer.class, "partitioner") == null ? null : Members.get(producer, "partitioner");
        if (current == null || current instanceof CustomPartitioner) {
            return false;
        }
        Object fresh = current.getClass().getDeclaredConstructor().newInstance();
        Members.set(producer, "partitioner", fresh);
        if (RoundRobinCounter.isUsedBy(release)) {
            new RoundRobinCounter(fresh.getClass()).set(fresh, TOPIC, start);
            return true;
        }
        return false;
    }

    private KafkaProducer<byte[], byte[]> producer(boolean custom, boolean ignoreKeys) throws ReflectiveOperationException {
        String name = "oracle-" + custom + "-" + ignoreKeys;
        KafkaProducer<byte[], byte[]> made = producers.get(name);
        if (made == null) {
            Map<String, Object> config = new HashMap<>();
            config.put("bootstrap.servers", "127.0.0.1:9");
            config.put("client.id", name + "-" + release);
            config.put("reconnect.backoff.ms", "60000");
            if (ignoreKeys) {
                config.put("partitioner.ignore.keys", "true");
            }
            if (custom) {
                config.put("partitioner.class", CustomPartitioner.class.getName());
            }
            made = new KafkaProducer<>(config, new ByteArraySerializer(), new ByteArraySerializer());
            ProducerClose.close(made);
            producers.put(name, made);
        }
        return made;
    }
}
