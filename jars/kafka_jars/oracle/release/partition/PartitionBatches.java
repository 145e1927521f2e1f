package kafkaoracle.partition;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.zip.CRC32C;
import kafkaoracle.reflection.Members;

/** MemoryRecords of magic 2 with records that are empty: neither keys nor values, all at time 0. */
final class PartitionBatches {
    private static final int HEADER = 61;
    private static final int OVERHEAD = 12;
    private static final int ATTRIBUTES_AT = 21;
    private static final int CHECKSUM_AT = 17;

    private PartitionBatches() {
    }

    /** The batches that a question names by their first offset, number of records and leader epoch. */
    static Object records(List<?> batches) throws ReflectiveOperationException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        for (Object each : batches) {
            Map<?, ?> batch = (Map<?, ?>) each;
            byte[] one = bytes(number(batch.get("offset")), (int) number(batch.get("records")), (int) number(batch.get("epoch")));
            bytes.write(one, 0, one.length);
        }
        return readable(bytes.toByteArray());
    }

    /** One batch, as a producer sends it. */
    static Object produced(int records) throws ReflectiveOperationException {
        return readable(bytes(0, records, -1));
    }

    private static Object readable(byte[] bytes) throws ReflectiveOperationException {
        return Members.recordType("MemoryRecords").getMethod("readableRecords", ByteBuffer.class)
            .invoke(null, ByteBuffer.wrap(bytes));
    }

    private static long number(Object number) {
        return ((Number) number).longValue();
    }

    private static byte[] bytes(long offset, int count, int epoch) {
        ByteArrayOutputStream records = new ByteArrayOutputStream();
        for (int delta = 0; delta < count; delta++) {
            byte[] record = {0, 0, (byte) (delta << 1), 1, 1, 0};
            records.write(record.length << 1);
            records.write(record, 0, record.length);
        }
        ByteBuffer bytes = ByteBuffer.allocate(HEADER + records.size());
        bytes.putLong(offset).putInt(bytes.capacity() - OVERHEAD).putInt(epoch).put((byte) 2).putInt(0);
        bytes.putShort((short) 0).putInt(count - 1).putLong(0).putLong(0);
        bytes.putLong(-1).putShort((short) -1).putInt(-1).putInt(count).put(records.toByteArray());
        CRC32C checksum = new CRC32C();
        checksum.update(bytes.array(), ATTRIBUTES_AT, bytes.capacity() - ATTRIBUTES_AT);
        bytes.putInt(CHECKSUM_AT, (int) checksum.getValue());
        return bytes.array();
    }
}
