package kafkaoracle.record_sizes;

import java.nio.ByteBuffer;
import java.util.Map;
import kafkaoracle.reflection.Members;
import org.apache.kafka.clients.producer.internals.RecordBatch;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.record.CompressionType;
import org.apache.kafka.common.record.Compressor;
import org.apache.kafka.common.record.MemoryRecords;
import org.apache.kafka.common.record.Record;
import org.apache.kafka.common.record.Records;

/** Sizes up to 0.10.1: a RecordBatch around MemoryRecords, which holds its own buffer. There are no headers. */
public final class RecordSizesByMemoryRecords extends BatchSizes {
    private final float[] ratios = (float[]) Members.getStatic(Compressor.class, "TYPE_TO_RATE");

    public RecordSizesByMemoryRecords(String release) throws ReflectiveOperationException {
    }

    @Override
    protected int upperBound(BatchSettings settings, QuestionRecord record) {
        return Records.LOG_OVERHEAD + Record.recordSize(record.key, record.value);
    }

    @Override
    protected Batch open(BatchSettings settings, ByteBuffer buffer) {
        CompressionType type = settings.gzip ? CompressionType.GZIP : CompressionType.NONE;
        ratios[type.id] = settings.ratio;
        MemoryRecords records = MemoryRecords.emptyRecords(buffer, type, settings.batchSize);
        RecordBatch batch = new RecordBatch(new TopicPartition(TOPIC, 0), records, 0);
        return new Batch() {
            @Override
            public boolean append(QuestionRecord record) {
                return batch.tryAppend(record.timestamp, record.key, record.value, null, 0) != null;
            }

            @Override
            public long estimate() throws Exception {
                return ((Compressor) Members.get(records, "compressor")).estimatedBytesWritten();
            }

            @Override
            public boolean isFull() {
                return records.isFull();
            }

            @Override
            public int maxRecordSize() {
                return batch.maxRecordSize;
            }

            @Override
            public void closeForAppends() {
                records.close();
            }

            @Override
            public int build() {
                return records.sizeInBytes();
            }
        };
    }

    @Override
    protected Map<String, Object> measured(BatchSettings settings, int offsetDelta, long timestampDelta, int key, int value) {
        return Map.of("size", Records.LOG_OVERHEAD + Record.recordSize(Math.max(key, 0), Math.max(value, 0)));
    }

    /** Only closing a batch updates the ratio, so an empty one is given the two counts. */
    @Override
    protected float nextRatio(BatchSettings settings, float ratio, int compressed, int uncompressed) {
        int endOfGzip = 10;
        Compressor closed = new Compressor(ByteBuffer.allocate(compressed), CompressionType.GZIP);
        closed.writtenUncompressed = uncompressed;
        closed.buffer().position(compressed - endOfGzip);
        ratios[CompressionType.GZIP.id] = ratio;
        closed.close();
        if (closed.buffer().position() != compressed) {
            throw new IllegalStateException("an empty gzip does not end in " + endOfGzip + " bytes here");
        }
        return ratios[CompressionType.GZIP.id];
    }
}
