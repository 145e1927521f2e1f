package kafkaoracle.record_batch;

import java.nio.ByteBuffer;
import java.util.Arrays;
import kafkaoracle.reflection.Members;

/** The blocks of a frame of snappy, as snappy-java walks them. */
final class SnappyBlocks {
    private static final byte[] MAGIC = {-126, 'S', 'N', 'A', 'P', 'P', 'Y', 0};
    private static final int HEADER = 16;
    private static final int LARGEST = 1 << 29;

    private SnappyBlocks() {
    }

    /** Makes the question unsupported if a block has more than 512 MB, and snappy-java, up to 1.1.10.3, allocates it. */
    static void refuseBeyondMemory(byte[] data) throws ClassNotFoundException {
        int start = 0;
        while (start + MAGIC.length <= data.length && !Arrays.equals(data, start, start + MAGIC.length, MAGIC, 0, MAGIC.length)) {
            start++;
        }
        if (start + MAGIC.length <= data.length && hasLarge(ByteBuffer.wrap(data), start + HEADER)
                && Members.field(Class.forName("org.xerial.snappy.SnappyInputStream"), "MAX_CHUNK_SIZE") == null) {
            throw new IllegalStateException("no limit", new ClassNotFoundException("a limit for blocks of snappy"));
        }
    }

    private static boolean hasLarge(ByteBuffer data, int first) {
        long position = first;
        while (data.capacity() - position >= Integer.BYTES) {
            int size = data.getInt((int) position);
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
