package kafkaoracle.record_batch;

import static kafkaoracle.record_batch.RecordBatchRule.exact;
import static kafkaoracle.record_batch.RecordBatchRule.nameless;

import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.Callable;
import kafkaoracle.reflection.Members;
import kafkaoracle.rule.Rule;
import org.apache.kafka.common.header.Header;

/**
 * Reads batches as a consumer does: MemoryRecords.batches(), and of each batch its header, ensureValid and its records.
 *
 * What one of these throws is its answer, and the next is asked all the same; records end at the first that cannot be read.
 */
final class BatchReader {
    private final Class<?> memoryRecords = Members.recordType("MemoryRecords");
    private final Class<?> markerType = Members.recordType("EndTransactionMarker");
    private final Class<?> controlType = Members.recordType("ControlRecordType");
    private final Class<?> timestampType = Members.type("org.apache.kafka.common.record.TimestampType");

    BatchReader() throws ReflectiveOperationException {
    }

    /** All batches; without what depends on compressed bytes unless {@code exactly}. */
    Map<String, Object> read(ByteBuffer data, boolean exactly) throws Exception {
        Method readable = memoryRecords.getMethod("readableRecords", ByteBuffer.class);
        Object records = Rule.kafka(() -> readable.invoke(null, data));
        List<Object> batches = new ArrayList<>();
        Map<String, Object> ended = found(() -> {
            Iterator<?> iterator = ((Iterable<?>) Rule.kafka(records, "batches")).iterator();
            while (Rule.kafka(iterator::hasNext)) {
                batches.add(batch(Rule.kafka(iterator::next), exactly));
            }
            return Map.of();
        });
        Map<String, Object> answer = new LinkedHashMap<>(ended);
        answer.put("batches", batches);
        if (exactly) {
            answer.put("valid_bytes", value(() -> Rule.kafka(records, "validBytes")));
        }
        return answer;
    }

    private Map<String, Object> batch(Object batch, boolean exactly) throws Exception {
        Map<String, Object> answer = new LinkedHashMap<>();
        answer.put("magic", Rule.kafka(batch, "magic"));
        if (exactly) {
            answer.put("size", Rule.kafka(batch, "sizeInBytes"));
        }
        answer.put("valid", value(() -> {
            Rule.kafka(batch, "ensureValid");
            return true;
        }));
        Map<String, Object> header = found(() -> header(batch, exactly));
        answer.put("header", header);
        answer.put("base_offset", value(() -> exact((Long) Rule.kafka(batch, "baseOffset"))));
        boolean control = Boolean.TRUE.equals(header.get("control"));
        answer.put("records", all(() -> iterator(batch, "streamingIterator"), record -> record == null ? null : record(record, control)));
        List<Object> iterated = all(() -> (Iterator<?>) Rule.kafka(batch, "iterator"), record -> 1);
        Object last = iterated.isEmpty() ? null : iterated.get(iterated.size() - 1);
        answer.put("iterated", last instanceof Map<?, ?> thrown
            ? Map.of("records", iterated.size() - 1, "raises", thrown.get("raises")) : Map.of("records", iterated.size()));
        if (Members.has(batch, "skipKeyValueIterator")) {
            answer.put("skipped", all(() -> iterator(batch, "skipKeyValueIterator"), BatchReader::sizes));
        }
        return answer;
    }

    private Map<String, Object> header(Object batch, boolean exactly) throws Exception {
        boolean isDefault = batch.getClass().getSimpleName().equals("DefaultRecordBatch");
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("compression", lower(Rule.kafka(batch, "compressionType")));
        fields.put("timestamp_type", timestampType(Rule.kafka(batch, "timestampType")));
        fields.put("last_offset", exact((Long) Rule.kafka(batch, "lastOffset")));
        fields.put("next_offset", exact((Long) Rule.kafka(batch, "nextOffset")));
        fields.put("leader_epoch", Rule.kafka(batch, "partitionLeaderEpoch"));
        if (exactly) {
            fields.put("crc", Rule.kafka(batch, "checksum"));
        }
        if (isDefault) {
            String name = Members.has(batch, "baseTimestamp") ? "baseTimestamp" : "firstTimestamp";
            fields.put("base_timestamp", exact((Long) Rule.kafka(batch, name)));
        }
        fields.put("max_timestamp", exact((Long) Rule.kafka(batch, "maxTimestamp")));
        fields.put("producer_id", exact((Long) Rule.kafka(batch, "producerId")));
        fields.put("producer_epoch", Rule.kafka(batch, "producerEpoch"));
        fields.put("base_sequence", Rule.kafka(batch, "baseSequence"));
        fields.put("last_sequence", Rule.kafka(batch, "lastSequence"));
        fields.put("count", Rule.kafka(batch, "countOrNull"));
        fields.put("transactional", Rule.kafka(batch, "isTransactional"));
        fields.put("control", Rule.kafka(batch, "isControlBatch"));
        if (Members.has(batch, "deleteHorizonMs")) {
            OptionalLong horizon = (OptionalLong) Rule.kafka(batch, "deleteHorizonMs");
            fields.put("delete_horizon", horizon.isPresent() ? exact(horizon.getAsLong()) : null);
        }
        return fields;
    }

    private static String timestampType(Object type) {
        return switch (((Enum<?>) type).name()) {
            case "LOG_APPEND_TIME" -> "append";
            case "CREATE_TIME" -> "create";
            default -> "none";
        };
    }

    private static String lower(Object constant) {
        return ((Enum<?>) constant).name().toLowerCase(Locale.ROOT);
    }

    /** An iterator that takes a BufferSupplier, as a consumer calls it: without a limit of the size of a record. */
    private static Iterator<?> iterator(Object batch, String name) throws Exception {
        Method method = Members.method(batch.getClass(), name, 1);
        Object supplier = Members.getStatic(method.getParameterTypes()[0], "NO_CACHING");
        return (Iterator<?>) Rule.kafka(() -> method.invoke(batch, supplier));
    }

    private Map<String, Object> record(Object record, boolean control) throws Exception {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("offset", exact((Long) Rule.kafka(record, "offset")));
        fields.put("timestamp", exact((Long) Rule.kafka(record, "timestamp")));
        boolean isLegacy = !record.getClass().getSimpleName().equals("DefaultRecord");
        if (isLegacy) {
            fields.put("timestamp_type", timestampTypeOf(record));
        }
        fields.put("sequence", Rule.kafka(record, "sequence"));
        ByteBuffer key = (ByteBuffer) Rule.kafka(record, "key");
        fields.put("key", hex(key));
        fields.put("value", hex((ByteBuffer) Rule.kafka(record, "value")));
        List<Object> headers = new ArrayList<>();
        for (Header header : (Header[]) Rule.kafka(record, "headers")) {
            headers.add(Arrays.asList(Rule.kafka(header::key), hex(Rule.kafka(header::value))));
        }
        fields.put("headers", headers);
        fields.put("size", Rule.kafka(record, "sizeInBytes"));
        if (isLegacy) {
            fields.put("valid", Rule.kafka(record, "isValid"));
        }
        if (control) {
            Method parse = Members.method(controlType, "parse", 1);
            Method deserialize = Members.method(markerType, "deserialize", 1);
            fields.put("control_type", value(() -> lower(Rule.kafka(() -> parse.invoke(null, key)))));
            fields.put("marker", value(() -> {
                Object marker = Rule.kafka(() -> deserialize.invoke(null, record));
                return List.of(lower(Rule.kafka(marker, "controlType")), Rule.kafka(marker, "coordinatorEpoch"));
            }));
        }
        return fields;
    }

    private String timestampTypeOf(Object record) throws Exception {
        for (Object each : timestampType.getEnumConstants()) {
            if ((Boolean) Rule.kafka(record, "hasTimestampType", each)) {
                return timestampType(each);
            }
        }
        throw new IllegalStateException("a record without a timestamp type");
    }

    private static List<Object> sizes(Object record) throws Exception {
        return record == null ? null : Arrays.asList(
            exact((Long) Rule.kafka(record, "offset")), exact((Long) Rule.kafka(record, "timestamp")),
            Rule.kafka(record, "sequence"), Rule.kafka(record, "sizeInBytes"),
            Rule.kafka(record, "keySize"), Rule.kafka(record, "valueSize"));
    }

    private interface Reading {
        Object of(Object record) throws Exception;
    }

    /** Everything that the iterator returns; last what it throws. */
    private static List<Object> all(Callable<Iterator<?>> open, Reading reading) {
        List<Object> answers = new ArrayList<>();
        Map<String, Object> ended = found(() -> {
            Iterator<?> iterator = open.call();
            try {
                while (Rule.kafka(iterator::hasNext)) {
                    answers.add(reading.of(Rule.kafka(iterator::next)));
                }
            } finally {
                if (iterator instanceof AutoCloseable stream) {
                    stream.close();
                }
            }
            return Map.of();
        });
        if (!ended.isEmpty()) {
            answers.add(ended);
        }
        return answers;
    }

    private static Object hex(ByteBuffer buffer) {
        if (buffer == null) {
            return null;
        }
        byte[] bytes = new byte[buffer.remaining()];
        buffer.duplicate().get(bytes);
        return hex(bytes);
    }

    private static Object hex(byte[] bytes) {
        return bytes == null ? null : HexFormat.of().formatHex(bytes);
    }

    private static Object value(Callable<Object> work) {
        Map<String, Object> outcome = found(() -> {
            Map<String, Object> one = new LinkedHashMap<>();
            one.put("", work.call());
            return one;
        });
        return outcome.containsKey("") ? outcome.get("") : outcome;
    }

    private static Map<String, Object> found(Callable<Map<String, Object>> work) {
        return nameless(Outcomes.of(work));
    }

    /** Rule.outcome, which only rules may call. */
    private abstract static class Outcomes extends Rule {
        static Map<String, Object> of(Callable<Map<String, Object>> work) {
            return outcome(work);
        }
    }
}
