package kafkaoracle.record_batch;

import static kafkaoracle.rule.Rule.bytes;
import static kafkaoracle.rule.Rule.integer;
import static kafkaoracle.rule.Rule.kafka;

import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import kafkaoracle.reflection.Members;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;

/** Writes the batch of a question by MemoryRecordsBuilder. */
final class BatchWriter {
    private static final int BUFFER = 512;
    private static final int WRITE_LIMIT = 1 << 30;
    private static final int WITH_DELETE_HORIZON = 14;

    private final Class<?> builderType = Members.recordType("MemoryRecordsBuilder");
    private final Class<?> timestampType = Members.type("org.apache.kafka.common.record.TimestampType");
    private final Class<?> markerType = Members.recordType("EndTransactionMarker");
    private final Class<?> controlType = Members.recordType("ControlRecordType");
    /** The constructor with the most parameters, among those that take a stream. */
    private final Constructor<?> constructor = Arrays.stream(builderType.getDeclaredConstructors())
        .filter(each -> each.getParameterTypes()[0].getSimpleName().equals("ByteBufferOutputStream"))
        .max((one, other) -> Integer.compare(one.getParameterCount(), other.getParameterCount())).orElseThrow();

    BatchWriter() throws ReflectiveOperationException {
    }

    /** The bytes of the batch; what Kafka throws on the way is thrown as ThrownByKafka. */
    byte[] write(Map<?, ?> batch) throws Exception {
        Object builder = builder(batch);
        for (Object record : (List<?>) batch.get("records")) {
            append(builder, (Map<?, ?>) record);
        }
        if (batch.get("control") instanceof Map<?, ?> control) {
            appendMarker(builder, control);
        }
        Object records = kafka(builder, "build");
        ByteBuffer buffer = ((ByteBuffer) kafka(records, "buffer")).duplicate();
        byte[] written = new byte[buffer.remaining()];
        buffer.get(written);
        return written;
    }

    private Object builder(Map<?, ?> batch) throws Exception {
        Class<?>[] types = constructor.getParameterTypes();
        if (types.length < WITH_DELETE_HORIZON && batch.get("delete_horizon") != null) {
            throw new IllegalStateException("no delete horizon", new ClassNotFoundException("a delete horizon"));
        }
        String codec = batch.get("compression") instanceof String name ? name : "none";
        Object compression = compression(types[2], codec, batch.get("level"));
        Map<?, ?> producer = batch.get("producer") instanceof Map<?, ?> given ? given : Map.of();
        Object[] arguments = {
            types[0].getConstructor(ByteBuffer.class).newInstance(ByteBuffer.allocate(BUFFER)),
            (byte) number(batch, "magic", 2),
            compression,
            timestampType((String) batch.get("timestamp_type")),
            number(batch, "base_offset", 0),
            number(batch, "log_append_time", -1),
            number(producer, "id", -1),
            (short) number(producer, "epoch", -1),
            (int) number(producer, "first_sequence", -1),
            Boolean.TRUE.equals(batch.get("transactional")),
            batch.get("control") != null,
            (int) number(batch, "leader_epoch", -1),
            WRITE_LIMIT,
            number(batch, "delete_horizon", -1),
        };
        return kafka(() -> constructor.newInstance(Arrays.copyOf(arguments, types.length)));
    }

    /** What a batch is made with: since 3.8.0 a Compression, which may have a level, before a CompressionType. */
    private static Object compression(Class<?> type, String name, Object level) throws Exception {
        if (type.getSimpleName().equals("CompressionType")) {
            if (level != null) {
                throw new IllegalStateException("no levels", new ClassNotFoundException("a compression level"));
            }
            Method forName = type.getMethod("forName", String.class);
            return kafka(() -> forName.invoke(null, name));
        }
        Method of = type.getMethod("of", String.class);
        Object builder = kafka(() -> of.invoke(null, name));
        if (level != null) {
            kafka(builder, "level", integer(level));
        }
        return kafka(builder, "build");
    }

    private Object timestampType(String name) throws ReflectiveOperationException {
        return timestampType.getField(switch (name == null ? "create" : name) {
            case "append" -> "LOG_APPEND_TIME";
            case "none" -> "NO_TIMESTAMP_TYPE";
            default -> "CREATE_TIME";
        }).get(null);
    }

    private void append(Object builder, Map<?, ?> record) throws Exception {
        long timestamp = number(record, "timestamp", 0);
        byte[] key = bytes(record.get("key"));
        byte[] value = bytes(record.get("value"));
        List<?> named = record.get("headers") instanceof List<?> given ? given : List.of();
        Header[] headers = new Header[named.size()];
        for (int place = 0; place < headers.length; place++) {
            List<?> header = (List<?>) named.get(place);
            headers[place] = new RecordHeader((String) header.get(0), bytes(header.get(1)));
        }
        if (record.get("offset") == null) {
            Method append = builderType.getMethod("append", long.class, byte[].class, byte[].class, Header[].class);
            kafka(() -> append.invoke(builder, timestamp, key, value, headers));
        } else {
            long offset = number(record, "offset", 0);
            Method append = builderType.getMethod(
                "appendWithOffset", long.class, long.class, byte[].class, byte[].class, Header[].class);
            kafka(() -> append.invoke(builder, offset, timestamp, key, value, headers));
        }
    }

    private void appendMarker(Object builder, Map<?, ?> control) throws Exception {
        Object type = controlType.getField(Boolean.TRUE.equals(control.get("commit")) ? "COMMIT" : "ABORT").get(null);
        int epoch = (int) number(control, "coordinator_epoch", 0);
        Constructor<?> constructor = Arrays.stream(markerType.getDeclaredConstructors())
            .filter(each -> each.getParameterCount() == 2).findFirst().orElseThrow();
        Object marker = kafka(() -> constructor.newInstance(type, epoch));
        kafka(builder, "appendEndTxnMarker", number(control, "timestamp", 0), marker);
    }

    private static long number(Map<?, ?> fields, String name, long otherwise) {
        Object found = fields.get(name);
        return found == null ? otherwise : Long.parseLong(found.toString());
    }
}
