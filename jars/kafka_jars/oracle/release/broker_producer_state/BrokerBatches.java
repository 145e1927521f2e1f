package kafkaoracle.broker_producer_state;

import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import kafkaoracle.reflection.Members;

/**
 * Batches as the broker receives them: Kafka's own DefaultRecordBatch, over bytes.
 *
 * A data batch is its header alone, 61 bytes: ProducerStateManager reads nothing behind it, and so a batch of 2^31 records
 * costs what a batch of one does. A marker holds its one record, which is read.
 */
final class BrokerBatches {
    private static final int OVERHEAD = 12;
    private static final int HEADER = 61;
    private static final byte TRANSACTIONAL = 0x10;
    private static final byte CONTROL = 0x20;
    /** Length, attributes, deltas of timestamp and offset, length of the key: what comes before a marker's key of 4 bytes. */
    private static final byte[] BEFORE_KEY = {32, 0, 0, 0, 8};
    private static final byte VALUE_OF_SIX = 12;

    private final Method readable;
    private final Method batches;

    BrokerBatches() throws ReflectiveOperationException {
        Class<?> records = Members.recordType("MemoryRecords");
        readable = records.getMethod("readableRecords", ByteBuffer.class);
        batches = records.getMethod("batches");
    }

    Object data(long offset, long producerId, short epoch, int sequence, int records, long timestamp, boolean transactional)
        throws ReflectiveOperationException {
        ByteBuffer bytes = ByteBuffer.allocate(HEADER);
        header(bytes, offset, producerId, epoch, sequence, records, timestamp, transactional ? TRANSACTIONAL : 0);
        return read(bytes);
    }

    Object marker(long offset, long producerId, short epoch, long timestamp, boolean commit, int coordinatorEpoch)
        throws ReflectiveOperationException {
        ByteBuffer bytes = ByteBuffer.allocate(HEADER + BEFORE_KEY.length + 4 + 1 + 6 + 1);
        header(bytes, offset, producerId, epoch, -1, 1, timestamp, (byte) (TRANSACTIONAL | CONTROL));
        bytes.put(BEFORE_KEY).putShort((short) 0).putShort((short) (commit ? 1 : 0));
        bytes.put(VALUE_OF_SIX).putShort((short) 0).putInt(coordinatorEpoch);
        return read(bytes);
    }

    private static void header(ByteBuffer bytes, long offset, long producerId, short epoch, int sequence, int records,
                               long timestamp, byte attributes) {
        bytes.putLong(offset).putInt(bytes.capacity() - OVERHEAD).putInt(0).put((byte) 2).putInt(0).putShort(attributes);
        bytes.putInt(records - 1).putLong(timestamp).putLong(timestamp).putLong(producerId).putShort(epoch);
        bytes.putInt(sequence).putInt((attributes & CONTROL) == 0 ? 0 : 1);
    }

    private Object read(ByteBuffer bytes) throws ReflectiveOperationException {
        Object found = batches.invoke(readable.invoke(null, bytes.rewind()));
        return ((Iterable<?>) found).iterator().next();
    }
}
