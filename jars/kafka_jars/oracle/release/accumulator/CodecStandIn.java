package kafkaoracle.accumulator;

import java.io.DataOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A codec that makes as many bytes of a batch as the question says: what a real one makes differs by library and build.
 *
 * Kafka's classes are as they are, and so is gzip, which batches are made with. What a batch writes to is handed on by a
 * stream of ours, which, when Kafka closes it, leaves as many bytes in the batch's buffer as the question says, whatever
 * they are. What gzip made is put aside: when a batch is split, and only then, its records are read, and they are read
 * from there. All that Kafka reckons with is Kafka's: what went in, what came out, what it expects thereafter.
 */
public final class CodecStandIn {
    private static final int WRAPPER = 34;
    private static final int BATCH = 61;

    private final Class<?> compressionType = moved("CompressionType");
    private final Object gzip = Arrays.stream(compressionType.getEnumConstants())
        .filter(each -> ((Enum<?>) each).name().equals("GZIP")).findFirst().orElseThrow();
    private final Class<?> estimator = find("CompressionRatioEstimator");

    private boolean isUsed;
    private float first;
    private List<?> achieved;
    private Set<String> known;
    private final Map<Object, byte[]> made = new IdentityHashMap<>();

    public void begin(Map<String, Object> config) throws ReflectiveOperationException {
        isUsed = !"none".equals(config.getOrDefault("compression", "none"));
        first = ((Number) config.getOrDefault("ratio", 1.0)).floatValue();
        achieved = (List<?>) config.getOrDefault("achieved_per_mille", List.of());
        known = new HashSet<>();
        made.clear();
        startAgain();
    }

    /** What the accumulator is made with: since 3.8.0 a Compression, before a CompressionType. */
    public Object codec(Class<?> type) throws ReflectiveOperationException {
        if (!isUsed) {
            return type.getField("NONE").get(null);
        }
        if (type == compressionType) {
            return gzip;
        }
        Object builder = type.getMethod("of", String.class).invoke(null, "gzip");
        return Class.forName(type.getName() + "$Builder").getMethod("build").invoke(builder);
    }

    /** To 0.10.2 there is one ratio for all topics. */
    public void startAgain() throws ReflectiveOperationException {
        if (isUsed && estimator == null) {
            Class<?> holder = find("Compressor");
            float[] ratios = (float[]) field(holder == null ? moved("MemoryRecordsBuilder") : holder, "TYPE_TO_RATE").get(null);
            ratios[compressionType.getField("id").getInt(gzip)] = first;
        }
    }

    /** Ratios are kept for ever, by topic; so a topic that is new to the question forgets its own. */
    public void meet(String topic) throws ReflectiveOperationException {
        if (isUsed && estimator != null && known.add(topic)) {
            estimator.getMethod("setEstimation", String.class, compressionType, float.class).invoke(null, topic, gzip, first);
        }
    }

    /** From here on, or, if it takes no more records, from now, the batch is compressed by us. */
    public void takeOver(Object batch, int number) throws Exception {
        if (!isUsed) {
            return;
        }
        Object builder = builder(batch);
        Field stream = field(builder.getClass(), "appendStream");
        Field closed = optional(builder.getClass(), "CLOSED_STREAM");
        DataOutputStream real = (DataOutputStream) stream.get(builder);
        if (closed != null && closed.get(null) == real) {
            finish(batch, builder, number);
            return;
        }
        if (builder != batch && optional(batch.getClass(), "records") != null) { // 0.10.0, 0.10.1: the position shows
            buffer(builder).position(WRAPPER);
        }
        stream.set(builder, new DataOutputStream(real) {
            private boolean isDone;

            @Override
            public void close() throws IOException {
                if (isDone) {
                    return;
                }
                isDone = true;
                super.close();
                try {
                    finish(batch, builder, number);
                } catch (ReflectiveOperationException changed) {
                    throw new IllegalStateException(changed);
                }
            }
        });
    }

    private void finish(Object batch, Object builder, int number) throws ReflectiveOperationException, IOException {
        ByteBuffer buffer = buffer(builder);
        made.put(batch, Arrays.copyOfRange(buffer.array(), buffer.arrayOffset(), buffer.arrayOffset() + buffer.position()));
        Field counted = optional(builder.getClass(), "uncompressedRecordsSizeInBytes");
        long bytes = ((Number) (counted != null ? counted : field(builder.getClass(), "writtenUncompressed")).get(builder)).longValue();
        long rate = achieved.isEmpty() ? 1000 : ((Number) achieved.get(number % achieved.size())).longValue();
        int wanted = (estimator != null ? BATCH : WRAPPER) + (int) Math.max(1, bytes * rate / 1000);
        if (buffer.position() < wanted) {
            ((OutputStream) field(builder.getClass(), "bufferStream").get(builder)).write(new byte[wanted - buffer.position()]);
        } else {
            buffer.position(wanted);
        }
    }

    /** The batch is about to be read: let it be what gzip made of it, with the header Kafka wrote, but for the size. */
    public void makeReadable(Object batch, Object built) throws ReflectiveOperationException {
        if (!isUsed) {
            return;
        }
        ByteBuffer header = (ByteBuffer) built.getClass().getMethod("buffer").invoke(built);
        byte[] real = made.get(batch);
        header.get(real, 0, BATCH);
        ByteBuffer.wrap(real).putInt(8, real.length - 12);
        Object readable = built.getClass().getMethod("readableRecords", ByteBuffer.class).invoke(null, ByteBuffer.wrap(real));
        field(built.getClass(), "batches").set(built, built.getClass().getMethod("batches").invoke(readable));
    }

    /** What holds the streams; 0.10.0 and 0.10.1 had no builder yet, but a Compressor. */
    private static Object builder(Object batch) throws ReflectiveOperationException {
        Field builder = optional(batch.getClass(), "recordsBuilder");
        if (builder != null) {
            return builder.get(batch);
        }
        Object records = field(batch.getClass(), "records").get(batch);
        return field(records.getClass(), "compressor").get(records);
    }

    private static ByteBuffer buffer(Object builder) throws ReflectiveOperationException {
        Object stream = field(builder.getClass(), "bufferStream").get(builder);
        return (ByteBuffer) stream.getClass().getMethod("buffer").invoke(stream);
    }

    private static Field field(Class<?> of, String name) {
        Field found = optional(of, name);
        if (found == null) {
            throw new IllegalStateException(of + " has no " + name);
        }
        return found;
    }

    private static Field optional(Class<?> of, String name) {
        Field found = Arrays.stream(of.getDeclaredFields()).filter(each -> each.getName().equals(name)).findFirst().orElse(null);
        if (found != null) {
            found.setAccessible(true);
        }
        return found;
    }

    private static Class<?> moved(String name) {
        Class<?> found = find(name);
        if (found == null) {
            throw new IllegalStateException("there is no " + name);
        }
        return found;
    }

    /** A class of common.record, since 4.3.0 of common.record.internal; null if there is none. */
    private static Class<?> find(String name) {
        for (String place : List.of("record.internal.", "record.")) {
            try {
                return Class.forName("org.apache.kafka.common." + place + name);
            } catch (ClassNotFoundException elsewhere) {
                continue;
            }
        }
        return null;
    }
}
