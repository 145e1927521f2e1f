package kafkaoracle.record_sizes;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import kafkaoracle.rule.Rule;

/**
 * How large Kafka takes records and batches to be, asked of one batch that is made and filled as the producer does it: a
 * buffer for its first record, the expected compression ratio, then record after record. A record for which there is no
 * room is left out, and the batch stays open for the next, so that every record is asked about.
 *
 * Each release's batch is asked by a class of its own, since the classes moved: see the subclasses.
 */
abstract class BatchSizesRule extends Rule {
    static final String TOPIC = "t";

    /** A batch of Kafka's. */
    interface Batch {
        /** Takes the record if there is room. */
        boolean append(AskedRecord record) throws Exception;

        long estimate() throws Exception;

        boolean isFull() throws Exception;

        int maxRecordSize() throws Exception;

        void closeForAppends() throws Exception;

        /** The size of the batch as it would be sent. */
        int build() throws Exception;
    }

    /** What the batch is to be. To 0.10.2 the magic is Kafka's own and is not read. */
    static final class Wanted {
        final int batchSize;
        final boolean gzip;
        final float ratio;
        final byte magic;

        Wanted(Map<String, Object> question) {
            batchSize = integer(question.getOrDefault("batch_size", 16384));
            gzip = question.getOrDefault("compression", "none").equals("gzip");
            ratio = ((Number) question.getOrDefault("ratio", 1.0)).floatValue();
            magic = (byte) integer(question.getOrDefault("magic", 2));
        }
    }

    /** A record of the question. */
    static final class AskedRecord {
        final long timestamp;
        final byte[] key;
        final byte[] value;
        final List<String> headerKeys = new ArrayList<>();
        final List<byte[]> headerValues = new ArrayList<>();

        AskedRecord(Map<String, Object> asked) {
            timestamp = Long.parseLong(asked.getOrDefault("timestamp", 0).toString());
            if (timestamp < -1) {
                throw new IllegalArgumentException("no ProducerRecord has the timestamp " + timestamp);
            }
            key = bytes(asked.get("key"));
            value = bytes(asked.get("value"));
            for (Object header : (List<?>) asked.getOrDefault("headers", List.of())) {
                headerKeys.add(text(((List<?>) header).get(0)));
                headerValues.add(bytes(((List<?>) header).get(1)));
            }
        }
    }

    private final Rule step = new Rule() {
        @Override
        protected Map<String, Object> answer(Map<String, Object> asked) throws Exception {
            AskedRecord record = (AskedRecord) asked.get("record");
            int bound = kafka(() -> upperBound(wanted, record));
            boolean room = kafka(() -> batch.append(record));
            return Map.of("bound", bound, "room", room, "estimate", kafka(batch::estimate), "full", kafka(batch::isFull));
        }
    };
    private Wanted wanted;
    private Batch batch;

    /** What the producer makes room for if it needs a new batch for this record. */
    protected abstract int upperBound(Wanted wanted, AskedRecord record) throws Exception;

    protected abstract Batch open(Wanted wanted, ByteBuffer buffer) throws Exception;

    /** Sizes by lengths alone, -1 for null. */
    protected abstract Map<String, Object> measured(
        Wanted wanted, int offsetDelta, long timestampDelta, int key, int value) throws Exception;

    /** The ratio expected once a batch of this many bytes was compressed to that many. */
    protected abstract float nextRatio(Wanted wanted, float ratio, int compressed, int uncompressed) throws Exception;

    @Override
    @SuppressWarnings("unchecked")
    protected final Map<String, Object> answer(Map<String, Object> question) throws Exception {
        wanted = new Wanted(question);
        List<AskedRecord> records = new ArrayList<>();
        for (Object asked : (List<?>) question.get("records")) {
            records.add(new AskedRecord((Map<String, Object>) asked));
        }
        Map<String, Object> answer = new LinkedHashMap<>();
        int buffer = Math.max(wanted.batchSize, kafka(() -> upperBound(wanted, records.get(0))));
        answer.put("buffer", buffer);
        batch = kafka(() -> open(wanted, ByteBuffer.allocate(buffer)));
        answer.put("empty", Map.of("estimate", kafka(batch::estimate), "full", kafka(batch::isFull)));
        List<Object> steps = new ArrayList<>();
        for (AskedRecord record : records) {
            steps.add(step.apply(Map.of("record", record)));
        }
        answer.put("steps", steps);
        answer.put("max_record_size", kafka(batch::maxRecordSize));
        kafka(() -> {
            batch.closeForAppends();
            return null;
        });
        answer.put("closed", kafka(batch::isFull));
        int built = kafka(batch::build);
        answer.put("built", wanted.gzip ? null : built);
        answer.put("measured", allMeasured((List<?>) question.getOrDefault("measured", List.of())));
        answer.put("ratios", ratios((List<?>) question.getOrDefault("observed", List.of())));
        return answer;
    }

    @SuppressWarnings("unchecked")
    private List<Object> allMeasured(List<?> lengths) throws Exception {
        List<Object> found = new ArrayList<>();
        for (Object each : lengths) {
            Map<String, Object> asked = (Map<String, Object>) each;
            int offsetDelta = integer(asked.getOrDefault("offset_delta", 0));
            long timestampDelta = Long.parseLong(asked.getOrDefault("timestamp_delta", 0).toString());
            int key = length(asked.get("key"));
            int value = length(asked.get("value"));
            found.add(kafka(() -> measured(wanted, offsetDelta, timestampDelta, key, value)));
        }
        return found;
    }

    /** As doubles: a float is written with fewer digits, and read back elsewhere it would be another number. */
    private List<Double> ratios(List<?> observed) throws Exception {
        List<Double> found = new ArrayList<>();
        float ratio = wanted.ratio;
        for (Object pair : observed) {
            int compressed = integer(((List<?>) pair).get(0));
            int uncompressed = integer(((List<?>) pair).get(1));
            float before = ratio;
            ratio = kafka(() -> nextRatio(wanted, before, compressed, uncompressed));
            found.add((double) ratio);
        }
        return found;
    }

    private static int length(Object number) {
        return number == null ? -1 : integer(number);
    }

    /** A header's key; one that is no Unicode text comes as its UTF-16, big-endian. */
    private static String text(Object asked) {
        if (asked instanceof String) {
            return (String) asked;
        }
        byte[] units = bytes(((Map<?, ?>) asked).get("utf16"));
        char[] chars = new char[units.length / 2];
        ByteBuffer.wrap(units).asCharBuffer().get(chars);
        return new String(chars);
    }
}
