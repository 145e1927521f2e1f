package kafkaoracle.record_sizes;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.util.Map;
import org.apache.kafka.clients.producer.internals.RecordBatch;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.record.CompressionType;
import org.apache.kafka.common.record.MemoryRecords;
import org.apache.kafka.common.record.MemoryRecordsBuilder;
import org.apache.kafka.common.record.Record;
import org.apache.kafka.common.record.Records;
import org.apache.kafka.common.record.TimestampType;

/** Sizes in 0.10.2: a RecordBatch around the first MemoryRecordsBuilder. Headers are not known yet. */
public final class RecordSizesByRecordBatch extends BatchSizesRule {
    private final Field maxRecordSize = open(RecordBatch.class.getDeclaredField("maxRecordSize"));
    private final Field uncompressed = open(MemoryRecordsBuilder.class.getDeclaredField("writtenUncompressed"));
    private final Method recordSize = Record.class.getDeclaredMethod("recordSize", byte.class, int.class, int.class);
    private final float[] ratios = (float[]) open(MemoryRecordsBuilder.class.getDeclaredField("TYPE_TO_RATE")).get(null);

    public RecordSizesByRecordBatch(String release) throws ReflectiveOperationException {
        recordSize.setAccessible(true);
    }

    @Override
    protected int upperBound(Wanted wanted, AskedRecord record) {
        return Records.LOG_OVERHEAD + Record.recordSize(record.key, record.value);
    }

    @Override
    protected Batch open(Wanted wanted, ByteBuffer buffer) {
        CompressionType type = wanted.gzip ? CompressionType.GZIP : CompressionType.NONE;
        ratios[type.id] = wanted.ratio;
        MemoryRecordsBuilder builder = MemoryRecords.builder(buffer, type, TimestampType.CREATE_TIME, wanted.batchSize);
        RecordBatch batch = new RecordBatch(new TopicPartition(TOPIC, 0), builder, 0);
        return new Batch() {
            @Override
            public boolean append(AskedRecord record) {
                return batch.tryAppend(record.timestamp, record.key, record.value, null, 0) != null;
            }

            @Override
            public long estimate() {
                return batch.sizeInBytes();
            }

            @Override
            public boolean isFull() {
                return batch.isFull();
            }

            @Override
            public int maxRecordSize() throws Exception {
                return maxRecordSize.getInt(batch);
            }

            @Override
            public void closeForAppends() {
                batch.close();
            }

            @Override
            public int build() {
                return batch.records().sizeInBytes();
            }
        };
    }

    @Override
    protected Map<String, Object> measured(Wanted wanted, int offsetDelta, long timestampDelta, int key, int value)
        throws Exception {
        Object message = recordSize.invoke(null, Record.CURRENT_MAGIC_VALUE, Math.max(key, 0), Math.max(value, 0));
        return Map.of("size", Records.LOG_OVERHEAD + (Integer) message);
    }

    /** There is no asking but by closing a batch, so an empty one is given the two counts. */
    @Override
    protected float nextRatio(Wanted wanted, float ratio, int compressed, int before) throws Exception {
        int endOfGzip = 10;
        int wrapped = Records.LOG_OVERHEAD + Record.recordSize(new byte[0], new byte[0]) + compressed;
        MemoryRecordsBuilder closed =
            MemoryRecords.builder(ByteBuffer.allocate(wrapped), CompressionType.GZIP, TimestampType.CREATE_TIME, wrapped);
        uncompressed.setLong(closed, before);
        closed.buffer().position(wrapped - endOfGzip);
        ratios[CompressionType.GZIP.id] = ratio;
        closed.close();
        if (closed.buffer().position() != wrapped) {
            throw new IllegalStateException("an empty gzip does not end in " + endOfGzip + " bytes here");
        }
        return ratios[CompressionType.GZIP.id];
    }

    private static Field open(Field field) {
        field.setAccessible(true);
        return field;
    }
}
