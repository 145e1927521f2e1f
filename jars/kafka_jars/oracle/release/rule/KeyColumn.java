package kafkaoracle.rule;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.function.ToIntFunction;

/**
 * A column of keys in one buffer, an int32 result for each in another, all little-endian: the number of keys (int64), an
 * argument (int64), the offsets (int32, one more than keys), then the bytes of the keys one after another.
 */
public final class KeyColumn {
    private static final int HEADER = 16;

    private final ByteBuffer in;
    private final int count;
    private final int data;

    public KeyColumn(ByteBuffer in) {
        this.in = in;
        this.count = Math.toIntExact(in.getLong(0));
        this.data = HEADER + 4 * (count + 1);
    }

    public int argument() {
        return Math.toIntExact(in.getLong(8));
    }

    /** Answers for each key and returns the nanoseconds taken. Keys are made one by one, as a producer's serializer would. */
    public long each(ByteBuffer out, ToIntFunction<byte[]> rule) {
        long begun = System.nanoTime();
        if (in.hasArray() && out.hasArray()) {
            eachInArrays(out, rule);
            return System.nanoTime() - begun;
        }
        int from = in.getInt(HEADER);
        for (int i = 0; i < count; i++) {
            int to = in.getInt(HEADER + 4 * (i + 1));
            byte[] key = new byte[to - from];
            in.get(data + from, key);
            out.putInt(4 * i, rule.applyAsInt(key));
            from = to;
        }
        return System.nanoTime() - begun;
    }

    /** The same where both buffers are on the heap: offsets and results as arrays, over which the JIT compiler loops fastest. */
    private void eachInArrays(ByteBuffer out, ToIntFunction<byte[]> rule) {
        int[] ends = new int[count + 1];
        in.duplicate().order(ByteOrder.LITTLE_ENDIAN).position(HEADER).slice().order(ByteOrder.LITTLE_ENDIAN).asIntBuffer().get(ends);
        int[] results = new int[count];
        byte[] bytes = in.array();
        int first = in.arrayOffset() + data;
        for (int i = 0; i < count; i++) {
            int from = first + ends[i];
            int to = first + ends[i + 1];
            // Most short keys have four bytes: written out, so that the JIT compiler can leave the array out.
            results[i] = to - from == 4
                ? rule.applyAsInt(new byte[] {bytes[from], bytes[from + 1], bytes[from + 2], bytes[from + 3]})
                : rule.applyAsInt(Arrays.copyOfRange(bytes, from, to));
        }
        out.duplicate().order(ByteOrder.LITTLE_ENDIAN).asIntBuffer().put(results);
    }
}
