package kafkaoracle.record_sizes;

import java.lang.reflect.Field;
import java.nio.ByteBuffer;
import java.util.Map;
import org.apache.kafka.clients.producer.internals.RecordBatch;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.record.CompressionType;
import org.apache.kafka.common.record.Compressor;
import org.apache.kafka.common.record.MemoryRecords;
import org.apache.kafka.common.record.Record;
import org.apache.kafka.common.record.Records;

/** Sizes to 0.10.1: a RecordBatch around MemoryRecords, which fill themselves. Headers are not known yet. */
public final class RecordSizesByMemoryRecords extends BatchSizesRule {
    private final Field compressor = MemoryRecords.class.getDeclaredField("compressor");
    private final float[] ratios;

    public RecordSizesByMemoryRecords(String release) throws ReflectiveOperationException {
        compressor.setAccessible(true);
        Field rates = Compressor.class.getDeclaredField("TYPE_TO_RATE");
        rates.setAccessible(true);
        ratios = (float[]) rates.get(null);
    }

    @Override
    protected int upperBound(Wanted wanted, AskedRecord record) {
        return Records.LOG_OVERHEAD + Record.recordSize(record.key, record.value);
    }

    @Override
    protected Batch open(Wanted wanted, ByteBuffer buffer) {
        CompressionType type = wanted.gzip ? CompressionType.GZIP : CompressionType.NONE;
        ratios[type.id] = wanted.ratio;
        MemoryRecords records = MemoryRecords.emptyRecords(buffer, type, wanted.batchSize);
        RecordBatch batch = new RecordBatch(new TopicPartition(TOPIC, 0), records, 0);
        return new Batch() {
            @Override
            public boolean append(AskedRecord record) {
                return batch.tryAppend(record.timestamp, record.key, record.value, null, 0) != null;
            }

            @Override
            public long estimate() throws Exception {
                return ((Compressor) compressor.get(records)).estimatedBytesWritten();
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
    protected Map<String, Object> measured(Wanted wanted, int offsetDelta, long timestampDelta, int key, int value) {
        return Map.of("size", Records.LOG_OVERHEAD + Record.recordSize(Math.max(key, 0), Math.max(value, 0)));
    }

    /** There is no asking but by closing a batch, so an empty one is given the two counts. */
    @Override
    protected float nextRatio(Wanted wanted, float ratio, int compressed, int uncompressed) {
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
