package kafkaoracle.accumulator;

import java.lang.reflect.Constructor;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import kafkaoracle.reflection.Members;
import kafkaoracle.rule.ThrownByKafka;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.internals.BufferPool;
import org.apache.kafka.clients.producer.internals.RecordAccumulator;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.utils.Time;

/**
 * The accumulator and the pool that a producer of this configuration makes: since 4.4.0 there are two of each. It is read
 * from a real producer, which is slow, so once for each configuration.
 */
public final class AccumulatorChoice {
    private static final String CHUNKED = "org.apache.kafka.clients.producer.internals.ChunkedRecordAccumulator";

    /** A class, or the name of what the producer's constructor threw. */
    private final Map<String, Object> known = new HashMap<>();
    private Class<?> chosen = RecordAccumulator.class;

    /** Throws what the producer's constructor throws; a release without a choice has no such class. */
    public void choose(Map<String, Object> config) throws Exception {
        chosen = RecordAccumulator.class;
        if (config.getOrDefault("allocation", "full").equals("full")) {
            return;
        }
        Class.forName(CHUNKED);
        Object size = config.get("batch_size");
        Object codec = config.getOrDefault("compression", "none");
        Object found = known.get(size + " " + codec);
        if (found == null) {
            found = readFromProducer(size, codec);
            known.put(size + " " + codec, found);
        }
        if (found instanceof String thrown) {
            throw new ThrownByKafka(thrown);
        }
        chosen = (Class<?>) found;
    }

    private static Object readFromProducer(Object size, Object codec) throws ReflectiveOperationException {
        Map<String, Object> config = new HashMap<>();
        config.put("bootstrap.servers", "127.0.0.1:1");
        config.put("key.serializer", ByteArraySerializer.class);
        config.put("value.serializer", ByteArraySerializer.class);
        config.put("enable.metrics.push", false);
        config.put("batch.size", size);
        config.put("compression.type", codec);
        config.put("buffer.memory.allocation.strategy", "incremental");
        Thread thread = Thread.currentThread();
        ClassLoader before = thread.getContextClassLoader();
        thread.setContextClassLoader(KafkaProducer.class.getClassLoader());
        try (KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(config)) {
            return Members.get(producer, "accumulator").getClass();
        } catch (RuntimeException thrown) {
            Throwable cause = thrown;
            while (cause.getCause() != null) {
                cause = cause.getCause();
            }
            return cause.getClass().getSimpleName();
        } finally {
            thread.setContextClassLoader(before);
        }
    }

    Constructor<?> constructor() {
        return Arrays.stream(chosen.getConstructors()).max(Comparator.comparing(Constructor::getParameterCount)).orElseThrow();
    }

    BufferPool pool(long memory, int batchSize, Metrics metrics, Time time) throws ReflectiveOperationException {
        if (chosen == RecordAccumulator.class) {
            return new BufferPool(memory, batchSize, metrics, time, "g");
        }
        Constructor<?> constructor = Arrays.stream(BufferPool.class.getConstructors())
            .filter(each -> each.getParameterCount() == 6).findFirst().orElseThrow();
        Object incremental = Members.getStatic(constructor.getParameterTypes()[5], "INCREMENTAL");
        int chunk = chosen.getField("CHUNK_SIZE").getInt(null);
        return (BufferPool) constructor.newInstance(memory, chunk, metrics, time, "g", incremental);
    }
}
