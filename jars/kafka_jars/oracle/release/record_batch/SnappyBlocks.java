package kafkaoracle.record_batch;

import java.nio.ByteBuffer;
import java.util.Arrays;
import kafkaoracle.reflection.Members;

/** The blocks of a frame of snappy, as snappy-java walks them. */
final class SnappyBlocks {
    private static final byte[] MAGIC = {-126, 'S', 'N', 'A', 'P', 'P', 'Y', 0};
    private static final int HEADER = 16;
    private static final int LARGEST = 1 << 29;
    /** Of every magic, an entry begins with its offset and the size of what follows. */
    private static final int ENTRY_HEADER = Long.BYTES + Integer.BYTES;

    private SnappyBlocks() {
    }

    /** Makes the question unsupported if a block has more than 512 MB, and snappy-java, up to 1.1.10.3, allocates it. */
    static void refuseBeyondMemory(byte[] data) throws ClassNotFoundException {
        if (anyEntryHasLarge(data)
                && Members.field(Class.forName("org.xerial.snappy.SnappyInputStream"), "MAX_CHUNK_SIZE") == null) {
            throw new IllegalStateException("no limit", new ClassNotFoundException("a limit for blocks of snappy"));
        }
    }

    private static boolean anyEntryHasLarge(byte[] data) {
        int position = 0;
        while (data.length - position >= ENTRY_HEADER) {
            int size = Math.max(ByteBuffer.wrap(data).getInt(position + Long.BYTES), 0);
            int end = (int) Math.min(data.length, (long) position + ENTRY_HEADER + size);
            if (hasLarge(Arrays.copyOfRange(data, position, end))) {
                return true;
            }
            position = end;
        }
        return false;
    }

    private static boolean hasLarge(byte[] entry) {
        int start = 0;
        while (start + MAGIC.length <= entry.length && !Arrays.equals(entry, start, start + MAGIC.length, MAGIC, 0, MAGIC.length)) {
            start++;
        }
        long position = (long) start + HEADER;
        while (entry.length - position >= Integer.BYTES) {
            int size = ByteBuffer.wrap(entry).getInt((int) position);
            if (size > LARGEST) {
                return true;
            }
            if (size == ByteBuffer.wrap(MAGIC).getInt()) {
                position += HEADER;
            } else if (size < 0) {
                return false;
            } else {
                position += Integer.BYTES + (long) size;
            }
        }
        return false;
    }
}
