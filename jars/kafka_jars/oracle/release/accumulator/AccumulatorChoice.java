package kafkaoracle.accumulator;

import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.internals.BufferPool;
import org.apache.kafka.clients.producer.internals.RecordAccumulator;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.utils.Time;

/**
 * Which accumulator and which pool a producer makes itself: since 4.4.0 there are two of each. The producer is asked, by
 * making one, which is slow; so once for each configuration.
 */
public final class AccumulatorChoice {
    private static final String CHUNKED = "org.apache.kafka.clients.producer.internals.ChunkedRecordAccumulator";

    private final Map<String, Object> asked = new HashMap<>();
    private Class<?> chosen = RecordAccumulator.class;

    /** Null, or what the producer raised instead of being made. A release with one way only has no such class. */
    public String choose(Map<String, Object> config) throws Exception {
        chosen = RecordAccumulator.class;
        if (config.getOrDefault("allocation", "full").equals("full")) {
            return null;
        }
        Class.forName(CHUNKED);
        Object size = config.get("batch_size");
        Object codec = config.getOrDefault("compression", "none");
        Object found = asked.get(size + " " + codec);
        if (found == null) {
            found = ask(size, codec);
            asked.put(size + " " + codec, found);
        }
        if (found instanceof String) {
            return (String) found;
        }
        chosen = (Class<?>) found;
        return null;
    }

    private static Object ask(Object size, Object codec) throws ReflectiveOperationException {
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
            Field accumulator = KafkaProducer.class.getDeclaredField("accumulator");
            accumulator.setAccessible(true);
            return accumulator.get(producer).getClass();
        } catch (RuntimeException refused) {
            Throwable cause = refused;
            while (cause.getCause() != null) {
                cause = cause.getCause();
            }
            return cause.getClass().getSimpleName();
        } finally {
            thread.setContextClassLoader(before);
        }
    }

    public Constructor<?> constructor() {
        return Arrays.stream(chosen.getConstructors()).max(Comparator.comparing(Constructor::getParameterCount)).orElseThrow();
    }

    public BufferPool pool(long memory, int batchSize, Metrics metrics, Time time) throws ReflectiveOperationException {
        if (chosen == RecordAccumulator.class) {
            return new BufferPool(memory, batchSize, metrics, time, "g");
        }
        Constructor<?> constructor = Arrays.stream(BufferPool.class.getConstructors())
            .filter(each -> each.getParameterCount() == 6).findFirst().orElseThrow();
        Field mode = constructor.getParameterTypes()[5].getDeclaredField("INCREMENTAL");
        mode.setAccessible(true);
        int chunk = chosen.getField("CHUNK_SIZE").getInt(null);
        return (BufferPool) constructor.newInstance(memory, chunk, metrics, time, "g", mode.get(null));
    }
}
