package kafkaoracle.murmur2;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.ToLongBiFunction;
import kafkaoracle.rule.KeyColumn;
import kafkaoracle.rule.Rule;
import org.apache.kafka.common.utils.Utils;

/** Times Utils.murmur2 over keys that are in memory already: the base line of the benchmarks. */
public final class Murmur2Clock extends Rule implements ToLongBiFunction<ByteBuffer, ByteBuffer> {

    public Murmur2Clock(String release) {
    }

    @Override
    protected Map<String, Object> answer(Map<String, Object> question) {
        throw new UnsupportedOperationException("a clock answers columns only");
    }

    @Override
    public long applyAsLong(ByteBuffer in, ByteBuffer out) {
        List<byte[]> made = new ArrayList<>();
        new KeyColumn(in).each(out, key -> {
            made.add(key);
            return 0;
        });
        byte[][] keys = made.toArray(new byte[0][]);
        int[] hashes = new int[keys.length];
        hashAll(keys, hashes); // warms up the JIT compiler
        long begun = System.nanoTime();
        hashAll(keys, hashes);
        long spent = System.nanoTime() - begun;
        for (int i = 0; i < hashes.length; i++) {
            out.putInt(4 * i, hashes[i]);
        }
        return spent;
    }

    private static void hashAll(byte[][] keys, int[] hashes) {
        for (int i = 0; i < keys.length; i++) {
            hashes[i] = Utils.murmur2(keys[i]);
        }
    }
}
