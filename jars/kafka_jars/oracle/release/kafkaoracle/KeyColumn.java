package kafkaoracle;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.function.ToIntFunction;

/**
 * A column of keys in one buffer, an int32 result for each in another, all little-endian: the number of keys (int64), an
 * argument (int64), the offsets (int32, one more than keys), then the bytes of the keys one after another.
 */
final class KeyColumn {
    private static final int HEADER = 16;

    private final ByteBuffer in;
    private final int count;
    private final int data;

    KeyColumn(ByteBuffer in) {
        this.in = in;
        this.count = Math.toIntExact(in.getLong(0));
        this.data = HEADER + 4 * (count + 1);
    }

    int argument() {
        return Math.toIntExact(in.getLong(8));
    }

    /** Asks for each key; nanoseconds for all. Keys are made one by one, as a producer's serializer would. */
    long each(ByteBuffer out, ToIntFunction<byte[]> rule) {
        long begun = System.nanoTime();
        int from = in.getInt(HEADER);
        for (int i = 0; i < count; i++) {
            int to = in.getInt(HEADER + 4 * (i + 1));
            out.putInt(4 * i, rule.applyAsInt(key(from, to)));
            from = to;
        }
        return System.nanoTime() - begun;
    }

    private byte[] key(int from, int to) {
        if (in.hasArray()) {
            int first = in.arrayOffset() + data;
            return Arrays.copyOfRange(in.array(), first + from, first + to);
        }
        byte[] key = new byte[to - from];
        in.get(data + from, key);
        return key;
    }
}
