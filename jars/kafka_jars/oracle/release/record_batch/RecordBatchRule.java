package kafkaoracle.record_batch;

import java.nio.ByteBuffer;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import kafkaoracle.rule.Rule;

/** Batches written by MemoryRecordsBuilder, and batches read from MemoryRecords. */
public final class RecordBatchRule extends Rule {
    private final BatchWriter writer = new BatchWriter();
    private final BatchReader reader = new BatchReader();

    public RecordBatchRule(String release) throws ReflectiveOperationException {
    }

    @Override
    protected Map<String, Object> answer(Map<String, Object> question) throws Exception {
        return nameless(outcome(() -> {
            if (question.get("encode") instanceof Map<?, ?> batch) {
                return Map.of("bytes", HexFormat.of().formatHex(writer.write(batch)));
            }
            if (question.get("compress") instanceof Map<?, ?> batch) {
                return reader.read(ByteBuffer.wrap(writer.write(batch)), false);
            }
            byte[] data = bytes(question.get("decode"));
            SnappyBlocks.refuseBeyondMemory(data);
            return reader.read(ByteBuffer.wrap(data), true);
        }));
    }

    /** An exception by its class name alone: its text contains sizes and checksums, and was often reworded. */
    static Map<String, Object> nameless(Map<String, Object> outcome) {
        if (!outcome.containsKey("message")) {
            return outcome;
        }
        Map<String, Object> named = new LinkedHashMap<>(outcome);
        named.remove("message");
        return named;
    }

    /** An int64 as JSON takes it: beyond 2^53 as text. */
    static Object exact(long number) {
        return Math.abs(number) <= 1L << 53 && number != Long.MIN_VALUE ? (Object) number : Long.toString(number);
    }
}
