package kafkaoracle.record_sizes;

import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Map;
import kafkaoracle.reflection.Members;
import org.apache.kafka.clients.producer.internals.ProducerBatch;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;

/**
 * Sizes since 0.11.0.0: a ProducerBatch around a MemoryRecordsBuilder. The classes of common.record are named by
 * reflection, since they moved to common.record.internal in 4.3.0.
 */
public final class RecordSizesRule extends BatchSizes {
    private static final Header[] NO_HEADERS = new Header[0];

    private final Class<?> compressionType = Members.recordType("CompressionType");
    private final Object none = constant("NONE");
    private final Object gzip = constant("GZIP");
    private final Method upperBound = Members.recordType("AbstractRecords").getMethod(
        "estimateSizeInBytesUpperBound", byte.class, compressionType, byte[].class, byte[].class, Header[].class);
    private final Method builder = builder();
    private final boolean byType = builder.getParameterTypes()[2] == compressionType;
    private final Object noneToBuild = byType ? none : compression("none");
    private final Object gzipToBuild = byType ? gzip : compression("gzip");
    private final Constructor<?> producerBatch =
        ProducerBatch.class.getConstructor(TopicPartition.class, builder.getReturnType(), long.class);
    private final Method estimate;

    private final Class<?> estimator = Members.recordType("CompressionRatioEstimator");
    private final Method setEstimation = estimator.getMethod("setEstimation", String.class, compressionType, float.class);
    private final Method updateEstimation = estimator.getMethod("updateEstimation", String.class, compressionType, float.class);

    private final Class<?> byteUtils = Members.type(
        "org.apache.kafka.common.utils.internals.ByteUtils", "org.apache.kafka.common.utils.ByteUtils");
    private final Method varint = byteUtils.getMethod("sizeOfVarint", int.class);
    private final Method varlong = byteUtils.getMethod("sizeOfVarlong", long.class);
    private final Method recordSize = Members.recordType("DefaultRecord").getMethod(
        "sizeInBytes", int.class, long.class, int.class, int.class, Header[].class);
    private final Method messageSize = Members.recordType("LegacyRecord").getMethod(
        "recordSize", byte.class, int.class, int.class);
    private final int logOverhead = Members.recordType("Records").getField("LOG_OVERHEAD").getInt(null);

    public RecordSizesRule(String release) throws ReflectiveOperationException {
        estimate = ProducerBatch.class.getMethod(release.startsWith("0.11.") ? "sizeInBytes" : "estimatedSizeInBytes");
    }

    @Override
    protected int upperBound(BatchSettings settings, QuestionRecord record) throws Exception {
        return (Integer) upperBound.invoke(
            null, settings.magic, settings.gzip ? gzip : none, record.key, record.value, headers(record));
    }

    @Override
    protected Batch open(BatchSettings settings, ByteBuffer buffer) throws Exception {
        setEstimation.invoke(null, TOPIC, settings.gzip ? gzip : none, settings.ratio);
        Object createTime = Enum.valueOf(builder.getParameterTypes()[3].asSubclass(Enum.class), "CREATE_TIME");
        Object made = builder.invoke(null, buffer, settings.magic, settings.gzip ? gzipToBuild : noneToBuild, createTime, 0L);
        ProducerBatch batch = (ProducerBatch) producerBatch.newInstance(new TopicPartition(TOPIC, 0), made, 0L);
        return new Batch() {
            @Override
            public boolean append(QuestionRecord record) {
                return batch.tryAppend(record.timestamp, record.key, record.value, headers(record), null, 0) != null;
            }

            @Override
            public long estimate() throws Exception {
                return (Integer) estimate.invoke(batch);
            }

            @Override
            public boolean isFull() {
                return batch.isFull();
            }

            @Override
            public int maxRecordSize() throws Exception {
                return (Integer) Members.get(batch, "maxRecordSize");
            }

            @Override
            public void closeForAppends() {
                batch.closeForRecordAppends();
            }

            @Override
            public int build() {
                batch.close();
                return batch.records().sizeInBytes();
            }
        };
    }

    @Override
    protected Map<String, Object> measured(BatchSettings settings, int offsetDelta, long timestampDelta, int key, int value)
        throws Exception {
        if (settings.magic < 2) {
            int message = (Integer) messageSize.invoke(null, settings.magic, Math.max(key, 0), Math.max(value, 0));
            return Map.of("size", logOverhead + message);
        }
        return Map.of(
            "varint", varint.invoke(null, offsetDelta),
            "varlong", varlong.invoke(null, timestampDelta),
            "size", recordSize.invoke(null, offsetDelta, timestampDelta, key, value, NO_HEADERS));
    }

    @Override
    protected float nextRatio(BatchSettings settings, float ratio, int compressed, int uncompressed) throws Exception {
        setEstimation.invoke(null, TOPIC, gzip, ratio);
        return (Float) updateEstimation.invoke(null, TOPIC, gzip, (float) compressed / uncompressed);
    }

    private static Header[] headers(QuestionRecord record) {
        Header[] found = new Header[record.headerKeys.size()];
        Arrays.setAll(found, at -> new RecordHeader(record.headerKeys.get(at), record.headerValues.get(at)));
        return found;
    }

    private Object constant(String name) {
        return Arrays.stream(compressionType.getEnumConstants())
            .filter(each -> ((Enum<?>) each).name().equals(name))
            .findFirst()
            .orElseThrow(() -> new IllegalStateException("there is no CompressionType." + name));
    }

    /** Since 3.8.0 a codec is a Compression, which holds its type. */
    private static Object compression(String name) throws ReflectiveOperationException {
        Class<?> compression = Class.forName("org.apache.kafka.common.compress.Compression");
        Object made = compression.getMethod("of", String.class).invoke(null, name);
        return Class.forName("org.apache.kafka.common.compress.Compression$Builder").getMethod("build").invoke(made);
    }

    /** The one that the producer calls: buffer, magic, codec, kind of timestamp, first offset. */
    private static Method builder() throws ReflectiveOperationException {
        return Arrays.stream(Members.recordType("MemoryRecords").getMethods())
            .filter(each -> each.getName().equals("builder") && each.getParameterCount() == 5)
            .filter(each -> each.getParameterTypes()[1] == byte.class && each.getParameterTypes()[4] == long.class)
            .findFirst()
            .orElseThrow(() -> new IllegalStateException("MemoryRecords has no builder(buffer, magic, codec, timestampType, baseOffset)"));
    }

}
