package kafkaoracle.record_sizes;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import kafkaoracle.rule.Rule;

/**
 * Kafka's sizes of records and batches, read from one batch that is made and filled as the producer does it: a buffer for
 * its first record, the expected compression ratio, then record after record. A record for which there is no room is left
 * out, and the batch stays open for the next, so that there is an answer about every record.
 *
 * The classes moved, so there is a subclass for the batches of each span of releases.
 */
abstract class BatchSizes extends Rule {
    static final String TOPIC = "t";

    /** A batch of Kafka's. */
    interface Batch {
        /** Takes the record if there is room. */
        boolean append(QuestionRecord record) throws Exception;

        long estimate() throws Exception;

        boolean isFull() throws Exception;

        int maxRecordSize() throws Exception;

        void closeForAppends() throws Exception;

        /** The size of the batch as it would be sent. */
        int build() throws Exception;
    }

    /** The settings of the batch. Up to 0.10.2 the magic is fixed, and the question's is not read. */
    static final class BatchSettings {
        final int batchSize;
        final boolean gzip;
        final float ratio;
        final byte magic;

        BatchSettings(Map<String, Object> question) {
            batchSize = integer(question.getOrDefault("batch_size", 16384));
            gzip = question.getOrDefault("compression", "none").equals("gzip");
            ratio = ((Number) question.getOrDefault("ratio", 1.0)).floatValue();
            magic = (byte) integer(question.getOrDefault("magic", 2));
        }
    }

    /** A record of the question. */
    static final class QuestionRecord {
        final long timestamp;
        final byte[] key;
        final byte[] value;
        final List<String> headerKeys = new ArrayList<>();
        final List<byte[]> headerValues = new ArrayList<>();

        QuestionRecord(Map<String, Object> fields) {
            timestamp = Long.parseLong(fields.getOrDefault("timestamp", 0).toString());
            if (timestamp < -1) {
                throw new IllegalArgumentException("no ProducerRecord has the timestamp " + timestamp);
            }
            key = bytes(fields.get("key"));
            value = bytes(fields.get("value"));
            for (Object header : (List<?>) fields.getOrDefault("headers", List.of())) {
                headerKeys.add(text(((List<?>) header).get(0)));
                headerValues.add(bytes(((List<?>) header).get(1)));
            }
        }
    }

    private BatchSettings settings;
    private Batch batch;

    /** The bytes that the producer allocates if it needs a new batch for this record. */
    protected abstract int upperBound(BatchSettings settings, QuestionRecord record) throws Exception;

    protected abstract Batch open(BatchSettings settings, ByteBuffer buffer) throws Exception;

    /** Sizes computed from lengths alone, -1 for null. */
    protected abstract Map<String, Object> measured(
        BatchSettings settings, int offsetDelta, long timestampDelta, int key, int value) throws Exception;

    /** The ratio expected once a batch of this many bytes was compressed to that many. */
    protected abstract float nextRatio(BatchSettings settings, float ratio, int compressed, int uncompressed) throws Exception;

    @Override
    @SuppressWarnings("unchecked")
    protected final Map<String, Object> answer(Map<String, Object> question) throws Exception {
        settings = new BatchSettings(question);
        List<QuestionRecord> records = new ArrayList<>();
        for (Object record : (List<?>) question.get("records")) {
            records.add(new QuestionRecord((Map<String, Object>) record));
        }
        Map<String, Object> answer = new LinkedHashMap<>();
        int buffer = Math.max(settings.batchSize, kafka(() -> upperBound(settings, records.get(0))));
        answer.put("buffer", buffer);
        batch = kafka(() -> open(settings, ByteBuffer.allocate(buffer)));
        answer.put("empty", Map.of("estimate", kafka(batch::estimate), "full", kafka(batch::isFull)));
        List<Object> steps = new ArrayList<>();
        for (QuestionRecord record : records) {
            steps.add(outcome(() -> append(record)));
        }
        answer.put("steps", steps);
        answer.put("max_record_size", kafka(batch::maxRecordSize));
        kafka(() -> {
            batch.closeForAppends();
            return null;
        });
        answer.put("closed", kafka(batch::isFull));
        int built = kafka(batch::build);
        answer.put("built", settings.gzip ? null : built);
        answer.put("measured", allMeasured((List<?>) question.getOrDefault("measured", List.of())));
        answer.put("ratios", ratios((List<?>) question.getOrDefault("observed", List.of())));
        return answer;
    }

    private Map<String, Object> append(QuestionRecord record) throws Exception {
        int bound = kafka(() -> upperBound(settings, record));
        boolean room = kafka(() -> batch.append(record));
        return Map.of("bound", bound, "room", room, "estimate", kafka(batch::estimate), "full", kafka(batch::isFull));
    }

    @SuppressWarnings("unchecked")
    private List<Object> allMeasured(List<?> lengths) throws Exception {
        List<Object> found = new ArrayList<>();
        for (Object each : lengths) {
            Map<String, Object> lengthsOfOne = (Map<String, Object>) each;
            int offsetDelta = integer(lengthsOfOne.getOrDefault("offset_delta", 0));
            long timestampDelta = Long.parseLong(lengthsOfOne.getOrDefault("timestamp_delta", 0).toString());
            int key = length(lengthsOfOne.get("key"));
            int value = length(lengthsOfOne.get("value"));
            found.add(kafka(() -> measured(settings, offsetDelta, timestampDelta, key, value)));
        }
        return found;
    }

    /** As doubles: a float is written with fewer digits, and read back elsewhere it would be another number. */
    private List<Double> ratios(List<?> observed) throws Exception {
        List<Double> found = new ArrayList<>();
        float ratio = settings.ratio;
        for (Object pair : observed) {
            int compressed = integer(((List<?>) pair).get(0));
            int uncompressed = integer(((List<?>) pair).get(1));
            float before = ratio;
            ratio = kafka(() -> nextRatio(settings, before, compressed, uncompressed));
            found.add((double) ratio);
        }
        return found;
    }

    private static int length(Object number) {
        return number == null ? -1 : integer(number);
    }

    /** A header's key; one that is not Unicode text comes as its UTF-16, big-endian. */
    private static String text(Object field) {
        if (field instanceof String text) {
            return text;
        }
        byte[] units = bytes(((Map<?, ?>) field).get("utf16"));
        char[] chars = new char[units.length / 2];
        ByteBuffer.wrap(units).asCharBuffer().get(chars);
        return new String(chars);
    }
}
