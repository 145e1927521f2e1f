package kafkaoracle.log_segment;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.zip.CRC32C;
import kafkaoracle.reflection.Members;

/** The batches of an append: bytes of magic 2 without codec, producer and headers, whose values are zeros. */
final class SegmentBatches {
    private static final int HEADER = 61;
    private static final int OVERHEAD = 12;
    private static final int ATTRIBUTES_AT = 21;
    private static final int CHECKSUM_AT = 17;

    final Object records;
    final long largestOffset;
    final long largestTimestamp;
    final long offsetOfLargest;
    final long firstOffset;

    SegmentBatches(List<?> batches) throws ReflectiveOperationException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        long last = -1;
        long timestamp = Long.MIN_VALUE;
        long offset = -1;
        for (Object each : batches) {
            Map<?, ?> batch = (Map<?, ?>) each;
            byte[] written = bytes(batch);
            bytes.write(written, 0, written.length);
            List<?> timestamps = (List<?>) batch.get("timestamps");
            last = number(batch.get("offset")) + timestamps.size() - 1;
            long largest = largest(timestamps);
            if (largest > timestamp) {
                timestamp = largest;
                offset = last;
            }
        }
        records = Members.recordType("MemoryRecords").getMethod("readableRecords", ByteBuffer.class)
            .invoke(null, ByteBuffer.wrap(bytes.toByteArray()));
        largestOffset = last;
        largestTimestamp = timestamp;
        offsetOfLargest = offset;
        firstOffset = batches.isEmpty() ? -1 : number(((Map<?, ?>) batches.get(0)).get("offset"));
    }

    private static long number(Object number) {
        return ((Number) number).longValue();
    }

    private static long largest(List<?> timestamps) {
        return timestamps.stream().mapToLong(SegmentBatches::number).max().orElseThrow();
    }

    private static byte[] bytes(Map<?, ?> batch) {
        List<?> timestamps = (List<?>) batch.get("timestamps");
        int value = batch.get("value_bytes") == null ? 0 : (int) number(batch.get("value_bytes"));
        long base = number(timestamps.get(0));
        ByteArrayOutputStream records = new ByteArrayOutputStream();
        for (int delta = 0; delta < timestamps.size(); delta++) {
            ByteArrayOutputStream record = new ByteArrayOutputStream();
            record.write(0);
            varint(record, number(timestamps.get(delta)) - base);
            varint(record, delta);
            varint(record, -1);
            varint(record, value);
            record.write(new byte[value], 0, value);
            varint(record, 0);
            varint(records, record.size());
            records.write(record.toByteArray(), 0, record.size());
        }
        ByteBuffer bytes = ByteBuffer.allocate(HEADER + records.size());
        bytes.putLong(number(batch.get("offset"))).putInt(bytes.capacity() - OVERHEAD).putInt(-1).put((byte) 2).putInt(0);
        bytes.putShort((short) 0).putInt(timestamps.size() - 1).putLong(base).putLong(largest(timestamps));
        bytes.putLong(-1).putShort((short) -1).putInt(-1).putInt(timestamps.size()).put(records.toByteArray());
        CRC32C checksum = new CRC32C();
        checksum.update(bytes.array(), ATTRIBUTES_AT, bytes.capacity() - ATTRIBUTES_AT);
        bytes.putInt(CHECKSUM_AT, (int) checksum.getValue());
        return bytes.array();
    }

    private static void varint(ByteArrayOutputStream bytes, long number) {
        long left = number << 1 ^ number >> 63;
        while ((left & ~0x7FL) != 0) {
            bytes.write((int) (left & 0x7F | 0x80));
            left >>>= 7;
        }
        bytes.write((int) left);
    }
}
