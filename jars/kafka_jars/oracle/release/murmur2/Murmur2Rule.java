package kafkaoracle.murmur2;

import java.nio.ByteBuffer;
import java.util.Map;
import java.util.function.ToLongBiFunction;
import kafkaoracle.rule.KeyColumn;
import kafkaoracle.rule.Rule;
import org.apache.kafka.common.utils.Utils;

/** Utils.murmur2, one key or a column of them. */
public final class Murmur2Rule extends Rule implements ToLongBiFunction<ByteBuffer, ByteBuffer> {

    public Murmur2Rule(String release) {
    }

    @Override
    protected Map<String, Object> answer(Map<String, Object> question) throws Exception {
        byte[] key = bytes(question.get("key"));
        return Map.of("hash", kafka(() -> Utils.murmur2(key)));
    }

    @Override
    public long applyAsLong(ByteBuffer in, ByteBuffer out) {
        return new KeyColumn(in).each(out, Utils::murmur2);
    }
}
