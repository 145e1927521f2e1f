package kafkaoracle.accumulator;

import java.io.DataOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.reflect.Field;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import kafkaoracle.reflection.Members;

/**
 * A codec that makes as many bytes of a batch as the question says: what a real one makes differs by library and build.
 *
 * Kafka's classes are untouched, and batches are made with gzip. A stream of ours passes on what a batch writes, and when
 * Kafka closes it, leaves as many bytes in the batch's buffer as the question says, whatever they are. What gzip made is
 * kept aside: only the split of a batch reads its records, and it reads them from there. All that Kafka computes with is
 * Kafka's: what went in, what came out, what it expects thereafter.
 */
public final class CodecStandIn {
    private static final int WRAPPER = 34;
    private static final int BATCH = 61;

    private final Class<?> compressionType = Members.recordType("CompressionType");
    private final Object gzip = Arrays.stream(compressionType.getEnumConstants())
        .filter(each -> ((Enum<?>) each).name().equals("GZIP")).findFirst().orElseThrow();
    /** Null up to 0.10.2, where one ratio holds for all topics. */
    private final Class<?> estimator = optionalRecordType("CompressionRatioEstimator");

    private boolean isUsed;
    private float first;
    private List<?> achieved;
    private Set<String> known;
    private final Map<Object, byte[]> made = new IdentityHashMap<>();

    CodecStandIn() throws ReflectiveOperationException {
    }

    void begin(Map<String, Object> config) throws ReflectiveOperationException {
        isUsed = !"none".equals(config.getOrDefault("compression", "none"));
        first = ((Number) config.getOrDefault("ratio", 1.0)).floatValue();
        achieved = (List<?>) config.getOrDefault("achieved_per_mille", List.of());
        known = new HashSet<>();
        made.clear();
        startAgain();
    }

    /** What the accumulator is made with: since 3.8.0 a Compression, before a CompressionType. */
    Object codec(Class<?> type) throws ReflectiveOperationException {
        if (!isUsed) {
            return type.getField("NONE").get(null);
        }
        if (type == compressionType) {
            return gzip;
        }
        Object builder = type.getMethod("of", String.class).invoke(null, "gzip");
        return Class.forName(type.getName() + "$Builder").getMethod("build").invoke(builder);
    }

    /** Forgets the ratio that is kept for all topics. */
    public void startAgain() throws ReflectiveOperationException {
        if (isUsed && estimator == null) {
            Class<?> compressor = optionalRecordType("Compressor");
            Class<?> holder = compressor == null ? Members.recordType("MemoryRecordsBuilder") : compressor;
            float[] ratios = (float[]) Members.getStatic(holder, "TYPE_TO_RATE");
            ratios[compressionType.getField("id").getInt(gzip)] = first;
        }
    }

    /** Forgets the ratio of a topic that is new to the question: Kafka keeps ratios in a static map. */
    void use(String topic) throws ReflectiveOperationException {
        if (isUsed && estimator != null && known.add(topic)) {
            estimator.getMethod("setEstimation", String.class, compressionType, float.class).invoke(null, topic, gzip, first);
        }
    }

    /** Replaces the compression of a batch, from now on or, if it takes no more records, at once. */
    public void takeOver(Object batch, int number) throws Exception {
        if (!isUsed) {
            return;
        }
        Object builder = builder(batch);
        DataOutputStream real = (DataOutputStream) Members.get(builder, "appendStream");
        Field closed = Members.field(builder.getClass(), "CLOSED_STREAM");
        if (closed != null && closed.get(null) == real) {
            finish(batch, builder, number);
            return;
        }
        if (builder != batch && Members.field(batch.getClass(), "records") != null) { // 0.10.0, 0.10.1: the position shows
            buffer(builder).position(WRAPPER);
        }
        Members.set(builder, "appendStream", new DataOutputStream(real) {
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
        boolean isRenamed = Members.field(builder.getClass(), "uncompressedRecordsSizeInBytes") != null;
        long bytes = ((Number) Members.get(builder, isRenamed ? "uncompressedRecordsSizeInBytes" : "writtenUncompressed")).longValue();
        long rate = achieved.isEmpty() ? 1000 : ((Number) achieved.get(number % achieved.size())).longValue();
        int wanted = (estimator != null ? BATCH : WRAPPER) + (int) Math.max(1, bytes * rate / 1000);
        if (buffer.position() < wanted) {
            ((OutputStream) Members.get(builder, "bufferStream")).write(new byte[wanted - buffer.position()]);
        } else {
            buffer.position(wanted);
        }
    }

    /** Makes the built records what gzip made of them, with Kafka's header but for the size, so that they can be read. */
    void makeReadable(Object batch, Object built) throws ReflectiveOperationException {
        if (!isUsed) {
            return;
        }
        ByteBuffer header = (ByteBuffer) built.getClass().getMethod("buffer").invoke(built);
        byte[] real = made.get(batch);
        header.get(real, 0, BATCH);
        ByteBuffer.wrap(real).putInt(8, real.length - 12);
        Object readable = built.getClass().getMethod("readableRecords", ByteBuffer.class).invoke(null, ByteBuffer.wrap(real));
        Members.set(built, "batches", built.getClass().getMethod("batches").invoke(readable));
    }

    /** What holds the streams; in 0.10.0 and 0.10.1 that is a Compressor. */
    private static Object builder(Object batch) throws ReflectiveOperationException {
        return Members.field(batch.getClass(), "recordsBuilder") != null
            ? Members.get(batch, "recordsBuilder") : Members.get(Members.get(batch, "records"), "compressor");
    }

    private static ByteBuffer buffer(Object builder) throws ReflectiveOperationException {
        return (ByteBuffer) Members.call(Members.get(builder, "bufferStream"), "buffer");
    }

    private static Class<?> optionalRecordType(String name) {
        try {
            return Members.recordType(name);
        } catch (ClassNotFoundException absent) {
            return null;
        }
    }
}
