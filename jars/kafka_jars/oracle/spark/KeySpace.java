package kafkaoracle.spark;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A space of keys, in blocks that can each be made alone. The kit's key_spaces.py makes the same blocks and compares.
 *
 * A block is laid out as KeyColumn reads it: the number of keys (int64), the argument (int64), the offsets (int32), the bytes of
 * the keys.
 */
final class KeySpace {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Map<String, KeySpace> KNOWN = new ConcurrentHashMap<>();
    private static final int HEADER = 16;

    private final boolean every;
    private final long keys;
    private final int perBlock;
    private final long firstArgument;
    private final long arguments;
    private final long seed;
    private final int longest;

    private KeySpace(String text) {
        try {
            JsonNode fields = JSON.readTree(text);
            every = fields.get("every").asBoolean();
            keys = fields.get("keys").asLong();
            perBlock = fields.get("per_block").asInt();
            firstArgument = fields.get("first_argument").asLong();
            arguments = fields.get("arguments").asLong();
            seed = fields.get("seed").asLong();
            longest = fields.get("longest").asInt();
        } catch (IOException broken) {
            throw new IllegalStateException("the driver sent no JSON: " + broken.getMessage(), broken);
        }
    }

    static KeySpace parse(String text) {
        return KNOWN.computeIfAbsent(text, KeySpace::new);
    }

    /** The keys of a block. */
    ByteBuffer block(long number) {
        return every ? everyKey(number) : randomKeys(number);
    }

    /** Every key up to some length: shorter ones first, those of one length as big-endian numbers. */
    private ByteBuffer everyKey(long number) {
        long inOneGo = (keys + perBlock - 1) / perBlock;
        long first = number % inOneGo * perBlock;
        long end = Math.min(first + perBlock, keys);
        long argument = firstArgument + number / inOneGo;
        if (first >= start(4) && end <= start(5)) {
            return fourBytesEach((int) (first - start(4)), (int) (end - first), argument);
        }
        int[] lengths = new int[(int) (end - first)];
        for (int length = 0; start(length) < end; length++) {
            long from = Math.max(first, start(length));
            long to = Math.min(end, start(length + 1));
            if (from < to) {
                Arrays.fill(lengths, (int) (from - first), (int) (to - first), length);
            }
        }
        ByteBuffer block = layOut(lengths, argument);
        int at = HEADER + 4 * (lengths.length + 1);
        long value = first - start(lengths[0]);
        for (int i = 0; i < lengths.length; i++) {
            if (i > 0 && lengths[i] != lengths[i - 1]) {
                value = 0;
            }
            at = put(block, at, value++, lengths[i]);
        }
        return block;
    }

    /** Nearly all blocks of short keys have four bytes each: simple loops over arrays take a fraction of the time. */
    private static ByteBuffer fourBytesEach(int first, int count, long argument) {
        int[] words = new int[2 * count + 1];
        for (int i = 0; i <= count; i++) {
            words[i] = 4 * i;
        }
        for (int i = 0; i < count; i++) {
            words[count + 1 + i] = Integer.reverseBytes(first + i);
        }
        ByteBuffer block = ByteBuffer.allocate(HEADER + 4 * words.length).order(ByteOrder.LITTLE_ENDIAN);
        block.putLong(0, count).putLong(8, argument);
        block.position(HEADER).slice().order(ByteOrder.LITTLE_ENDIAN).asIntBuffer().put(words);
        return block.position(0);
    }

    private static int put(ByteBuffer block, int at, long value, int length) {
        if (length == 4) {
            block.putInt(at, Integer.reverseBytes((int) value));
            return at + 4;
        }
        for (int shift = 8 * (length - 1); shift >= 0; shift -= 8) {
            block.put(at++, (byte) (value >>> shift));
        }
        return at;
    }

    private static long start(int length) {
        long start = 0;
        for (int shorter = 0; shorter < length; shorter++) {
            start += 1L << 8 * shorter;
        }
        return start;
    }

    /** Keys of many lengths: each up to the longest, which is halved as often as is drawn, 0 to 7 times. */
    private ByteBuffer randomKeys(long number) {
        int count = (int) Math.min(perBlock, keys - number * perBlock);
        SplittableRandom chance = new SplittableRandom(new SplittableRandom(seed ^ number * 0x9e3779b97f4a7c15L).nextLong());
        int[] lengths = new int[count];
        int total = 0;
        for (int i = 0; i < count; i++) {
            long drawn = chance.nextLong();
            lengths[i] = (int) ((drawn >>> 8) % ((longest >> (drawn & 7)) + 1));
            total += lengths[i];
        }
        ByteBuffer block = layOut(lengths, firstArgument + number % arguments);
        int at = HEADER + 4 * (count + 1);
        int end = at + total;
        for (; at + 8 <= end; at += 8) {
            block.putLong(at, chance.nextLong());
        }
        for (long drawn = at < end ? chance.nextLong() : 0; at < end; at++, drawn >>>= 8) {
            block.put(at, (byte) drawn);
        }
        return block;
    }

    private static ByteBuffer layOut(int[] lengths, long argument) {
        int total = 0;
        for (int length : lengths) {
            total += length;
        }
        int size = HEADER + 4 * (lengths.length + 1) + total;
        ByteBuffer block = ByteBuffer.allocate(size).order(ByteOrder.LITTLE_ENDIAN);
        block.putLong(0, lengths.length).putLong(8, argument);
        int end = 0;
        for (int i = 0; i < lengths.length; i++) {
            end += lengths[i];
            block.putInt(HEADER + 4 * (i + 1), end);
        }
        return block;
    }
}
