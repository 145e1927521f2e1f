package kafkaoracle.broker_producer_state;

import java.io.File;
import java.lang.reflect.InvocationTargetException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import kafkaoracle.rule.ScriptRule;
import kafkaoracle.rule.ThrownByKafka;

/**
 * ProducerStateManager, step by step, as UnifiedLog (Log up to 3.0) uses it: for each batch of a request the duplicate
 * look-up, if a client writes; then the update of its producer's ProducerAppendInfo; and once all batches have passed, the
 * updates of the manager, the transactions completed, and the end of the map. A batch is written at the map's end, or at the
 * step's offset.
 */
public final class BrokerProducerStateRule extends ScriptRule {
    private static final Set<String> WITH_FILES = Set.of("snapshot", "load", "reload");

    private final SnapshotFolder folder = new SnapshotFolder();
    private BrokerProducerStateAccess kafka;
    private BrokerBatches batches;
    private int expirationMs;
    private boolean usesFiles;
    private Set<Long> producerIds;

    public BrokerProducerStateRule(String release) {
    }

    @Override
    @SuppressWarnings("unchecked")
    protected void begin(Map<String, Object> question) throws Exception {
        if (kafka == null) { // the broker's jars are loaded only once this rule has a question
            kafka = new BrokerProducerStateAccess();
            batches = new BrokerBatches();
        }
        List<Map<String, Object>> steps = (List<Map<String, Object>>) question.get("steps");
        expirationMs = integer(((Map<String, Object>) question.get("config")).get("producer_id_expiration_ms"));
        usesFiles = steps.stream().anyMatch(step -> WITH_FILES.contains(step.get("op")));
        producerIds = new TreeSet<>();
        kafka.now = 0;
        open();
    }

    @Override
    protected void end() {
        if (usesFiles) {
            folder.empty();
        }
    }

    private void open() throws Exception {
        kafka.open(usesFiles ? folder.create() : folder.absent(), expirationMs);
    }

    @Override
    protected Map<String, Object> answerStep(Map<String, Object> step) {
        return withoutMessage(super.answerStep(step));
    }

    /** Whatever is called by reflection is Kafka's. */
    @Override
    protected Map<String, Object> take(String op, Map<String, Object> step) throws Exception {
        try {
            return step(op, step);
        } catch (InvocationTargetException wrapped) {
            throw new ThrownByKafka(wrapped.getCause());
        }
    }

    @SuppressWarnings("unchecked")
    private Map<String, Object> step(String op, Map<String, Object> step) throws Exception {
        switch (op) {
            case "append":
                return write((String) step.getOrDefault("origin", "client"), List.of(step));
            case "marker":
                return write((String) step.getOrDefault("origin", "coordinator"), List.of(step));
            case "request":
                return write((String) step.getOrDefault("origin", "client"), (List<Map<String, Object>>) step.get("batches"));
            case "verify":
                return verify(step);
            case "look":
                return look();
            case "snapshot":
                return snapshot();
            case "load":
                return load(step);
            default:
                move(op, step);
                return Map.of();
        }
    }

    /** One request: UnifiedLog.analyzeAndValidateProducerState, and what append does after it. */
    private Map<String, Object> write(String origin, List<Map<String, Object>> batchesOfRequest) throws Exception {
        long offset = kafka.end();
        Long first = null;
        Map<Long, Object> infos = new LinkedHashMap<>();
        List<Object> transactions = new ArrayList<>();
        for (Map<String, Object> fields : batchesOfRequest) {
            offset = number(fields, "offset", offset);
            first = first == null ? Long.valueOf(offset) : first;
            long producerId = number(fields, "producer_id", -1);
            producerIds.add(producerId);
            Object batch = batch(fields, offset, producerId);
            if (producerId > -1) {
                Object duplicate = origin.equals("client") ? kafka.duplicateOf(batch) : null;
                if (duplicate != null) {
                    return Map.of("duplicate", duplicate);
                }
                Object transaction = kafka.update(batch, infos, origin, (short) number(fields, "transaction_version", 0));
                if (transaction != null) {
                    transactions.add(transaction);
                }
            }
            offset += number(fields, "records", 1);
        }
        for (Object info : infos.values()) {
            kafka.call("update", info);
        }
        List<Object> completed = new ArrayList<>();
        for (Object transaction : transactions) {
            completed.add(kafka.complete(transaction));
        }
        kafka.call("updateMapEndOffset", offset);
        return completed.isEmpty() ? Map.of("appended", first) : Map.of("appended", first, "completed", completed);
    }

    private Object batch(Map<String, Object> fields, long offset, long producerId) throws Exception {
        short epoch = (short) number(fields, "epoch", 0);
        long timestamp = number(fields, "timestamp", 0);
        if (fields.get("op").equals("marker")) {
            int coordinatorEpoch = (int) number(fields, "coordinator_epoch", 0);
            return batches.marker(offset, producerId, epoch, timestamp, (Boolean) fields.get("commit"), coordinatorEpoch);
        }
        boolean transactional = (Boolean) fields.getOrDefault("transactional", false);
        int sequence = integer(fields.get("first_sequence"));
        return batches.data(offset, producerId, epoch, sequence, integer(fields.get("records")), timestamp, transactional);
    }

    private Map<String, Object> verify(Map<String, Object> step) throws Exception {
        if (!kafka.has("maybeCreateVerificationStateEntry")) {
            return Map.of();
        }
        long producerId = number(step, "producer_id", -1);
        producerIds.add(producerId);
        kafka.now = number(step, "now", 0);
        boolean bump = (Boolean) step.getOrDefault("supports_epoch_bump", false);
        kafka.verify(producerId, integer(step.get("sequence")), (short) number(step, "epoch", 0), bump);
        return Map.of("verifying", kafka.verification(producerId));
    }

    private Map<String, Object> snapshot() throws Exception {
        kafka.takeSnapshot();
        File file = folder.file(kafka.end());
        return file.isFile() ? Map.of("bytes", HexFormat.of().formatHex(Files.readAllBytes(file.toPath()))) : Map.of();
    }

    /** Reads these bytes as a snapshot; with an offset the file stays, as if the broker had written it before. */
    private Map<String, Object> load(Map<String, Object> step) throws Exception {
        File file = step.get("offset") == null ? new File(folder.create(), "asked") : folder.file(number(step, "offset", 0));
        Files.write(file.toPath(), bytes(step.get("bytes")));
        try {
            return Map.of("producers", kafka.read(file));
        } finally {
            if (step.get("offset") == null) {
                Files.delete(file.toPath());
            }
        }
    }

    private void move(String op, Map<String, Object> step) throws Exception {
        long start = number(step, "start", 0);
        long now = number(step, "now", 0);
        long offset = number(step, "offset", 0);
        switch (op) {
            case "reload":
                long end = number(step, "end", kafka.end());
                open();
                kafka.call("truncateAndReload", start, end, now);
                return;
            case "truncate":
                kafka.call("truncateAndReload", start, number(step, "end", 0), now);
                return;
            case "expire":
                kafka.call("removeExpiredProducers", now);
                return;
            case "start_over":
                startOver(offset);
                return;
            case "log_start":
                kafka.call(kafka.has("truncateHead") ? "truncateHead" : "onLogStartOffsetIncremented", offset);
                return;
            case "high_watermark":
                kafka.call("onHighWatermarkUpdated", offset);
                return;
            case "delete_snapshots":
                kafka.call("deleteSnapshotsBefore", number(step, "before", 0));
                return;
            default:
                throw new IllegalArgumentException("a script of BrokerProducerStateRule has no step " + op);
        }
    }

    /** Up to 2.6 the log empties the manager and then sets its end. */
    private void startOver(long offset) throws Exception {
        if (kafka.has("truncateFullyAndStartAt")) {
            kafka.call("truncateFullyAndStartAt", offset);
        } else {
            kafka.call("truncate");
            kafka.call("updateMapEndOffset", offset);
        }
    }

    private Map<String, Object> look() throws Exception {
        Map<String, Object> answer = new LinkedHashMap<>();
        List<Map<String, Object>> producers = kafka.producers();
        producers.sort(Comparator.comparing(producer -> (Long) producer.get("id")));
        answer.put("producers", producers);
        answer.put("end", kafka.end());
        answer.put("first_unstable", kafka.firstUnstable());
        answer.put("first_undecided", Containers.value(kafka.call("firstUndecidedOffset")));
        answer.put("latest_snapshot", Containers.value(kafka.call("latestSnapshotOffset")));
        List<Object> verifying = new ArrayList<>();
        for (long producerId : producerIds) {
            List<Object> found = kafka.verification(producerId);
            if (found != null) {
                verifying.add(found);
            }
        }
        answer.put("verifying", verifying);
        return answer;
    }
}
