package kafkaoracle.record_sizes;

import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.util.Map;
import kafkaoracle.reflection.Members;
import org.apache.kafka.clients.producer.internals.RecordBatch;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.record.CompressionType;
import org.apache.kafka.common.record.MemoryRecords;
import org.apache.kafka.common.record.MemoryRecordsBuilder;
import org.apache.kafka.common.record.Record;
import org.apache.kafka.common.record.Records;
import org.apache.kafka.common.record.TimestampType;

/** Sizes in 0.10.2: a RecordBatch around the first MemoryRecordsBuilder. There are no headers. */
public final class RecordSizesByRecordBatch extends BatchSizes {
    private final Method recordSize = Record.class.getDeclaredMethod("recordSize", byte.class, int.class, int.class);
    private final float[] ratios = (float[]) Members.getStatic(MemoryRecordsBuilder.class, "TYPE_TO_RATE");

    public RecordSizesByRecordBatch(String release) throws ReflectiveOperationException {
        recordSize.setAccessible(true);
    }

    @Override
    protected int upperBound(BatchSettings settings, QuestionRecord record) {
        return Records.LOG_OVERHEAD + Record.recordSize(record.key, record.value);
    }

    @Override
    protected Batch open(BatchSettings settings, ByteBuffer buffer) {
        CompressionType type = settings.gzip ? CompressionType.GZIP : CompressionType.NONE;
        ratios[type.id] = settings.ratio;
        MemoryRecordsBuilder builder = MemoryRecords.builder(buffer, type, TimestampType.CREATE_TIME, settings.batchSize);
        RecordBatch batch = new RecordBatch(new TopicPartition(TOPIC, 0), builder, 0);
        return new Batch() {
            @Override
            public boolean append(QuestionRecord record) {
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
                return (Integer) Members.get(batch, "maxRecordSize");
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
    protected Map<String, Object> measured(BatchSettings settings, int offsetDelta, long timestampDelta, int key, int value)
        throws Exception {
        Object message = recordSize.invoke(null, Record.CURRENT_MAGIC_VALUE, Math.max(key, 0), Math.max(value, 0));
        return Map.of("size", Records.LOG_OVERHEAD + (Integer) message);
    }

    /** Only closing a batch updates the ratio, so an empty one is given the two counts. */
    @Override
    protected float nextRatio(BatchSettings settings, float ratio, int compressed, int before) throws Exception {
        int endOfGzip = 10;
        int wrapped = Records.LOG_OVERHEAD + Record.recordSize(new byte[0], new byte[0]) + compressed;
        MemoryRecordsBuilder closed =
            MemoryRecords.builder(ByteBuffer.allocate(wrapped), CompressionType.GZIP, TimestampType.CREATE_TIME, wrapped);
        Members.set(closed, "writtenUncompressed", (long) before);
        closed.buffer().position(wrapped - endOfGzip);
        ratios[CompressionType.GZIP.id] = ratio;
        closed.close();
        if (closed.buffer().position() != wrapped) {
            throw new IllegalStateException("an empty gzip does not end in " + endOfGzip + " bytes here");
        }
        return ratios[CompressionType.GZIP.id];
    }
}
