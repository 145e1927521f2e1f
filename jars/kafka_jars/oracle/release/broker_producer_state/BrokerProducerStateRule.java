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
import kafkaoracle.rule.Rule;

/**
 * ProducerStateManager, step by step, as UnifiedLog (Log to 3.0) uses it: for each batch of a request the duplicate look-up,
 * if a client writes; then the update of its producer's ProducerAppendInfo; and once all batches have passed, the updates
 * of the manager, the transactions completed, and the end of the map. A batch is written at the map's end, or where the
 * step says. A step that Kafka raises in is answered by what it raised, and the script goes on with what that left.
 */
public final class BrokerProducerStateRule extends Rule {
    private static final Set<String> OF_FILES = Set.of("snapshot", "load", "reload");

    private final SnapshotFolder folder = new SnapshotFolder();
    private BrokerProducerStateAccess kafka;
    private BrokerBatches batches;
    private int expirationMs;
    private boolean withFiles;
    private Set<Long> seen;

    public BrokerProducerStateRule(String release) {
    }

    @Override
    @SuppressWarnings("unchecked")
    protected Map<String, Object> answer(Map<String, Object> question) throws Exception {
        if (kafka == null) {
            kafka = new BrokerProducerStateAccess();
            batches = new BrokerBatches();
        }
        List<Map<String, Object>> steps = (List<Map<String, Object>>) question.get("steps");
        expirationMs = integer(((Map<String, Object>) question.get("config")).get("producer_id_expiration_ms"));
        withFiles = steps.stream().anyMatch(step -> OF_FILES.contains(step.get("op")));
        seen = new TreeSet<>();
        kafka.now = 0;
        try {
            open();
            List<Object> answers = new ArrayList<>(steps.size());
            for (Map<String, Object> asked : steps) {
                answers.add(answered(asked));
            }
            return Map.of("steps", answers);
        } finally {
            if (withFiles) {
                folder.empty();
            }
        }
    }

    private void open() throws Exception {
        kafka.open(withFiles ? folder.made() : folder.absent(), expirationMs);
    }

    private Map<String, Object> answered(Map<String, Object> asked) throws Exception {
        try {
            return take((String) asked.get("op"), asked);
        } catch (InvocationTargetException wrapped) {
            return Map.of("raises", wrapped.getCause().getClass().getSimpleName());
        }
    }

    @SuppressWarnings("unchecked")
    private Map<String, Object> take(String op, Map<String, Object> asked) throws Exception {
        switch (op) {
            case "append":
                return write((String) asked.getOrDefault("origin", "client"), List.of(asked));
            case "marker":
                return write((String) asked.getOrDefault("origin", "coordinator"), List.of(asked));
            case "request":
                return write((String) asked.getOrDefault("origin", "client"), (List<Map<String, Object>>) asked.get("batches"));
            case "verify":
                return verify(asked);
            case "look":
                return look();
            case "snapshot":
                return snapshot();
            case "load":
                return load(asked);
            case "reload":
                long end = asked.get("end") == null ? kafka.end() : number(asked, "end", 0);
                open();
                kafka.call("truncateAndReload", number(asked, "start", 0), end, number(asked, "now", 0));
                return Map.of();
            default:
                return move(op, asked);
        }
    }

    /** One request: UnifiedLog.analyzeAndValidateProducerState, and what append does after it. */
    private Map<String, Object> write(String origin, List<Map<String, Object>> asked) throws Exception {
        long offset = kafka.end();
        Long first = null;
        Map<Long, Object> infos = new LinkedHashMap<>();
        List<Object> completed = new ArrayList<>();
        for (Map<String, Object> one : asked) {
            offset = number(one, "offset", offset);
            first = first == null ? Long.valueOf(offset) : first;
            long producerId = number(one, "producer_id", -1);
            seen.add(producerId);
            Object batch = batch(one, offset, producerId);
            if (producerId > -1) {
                Long duplicate = origin.equals("client") ? kafka.duplicateOf(batch) : null;
                if (duplicate != null) {
                    return Map.of("duplicate", duplicate);
                }
                Object transaction = kafka.update(batch, infos, origin, (short) number(one, "transaction_version", 0));
                if (transaction != null) {
                    completed.add(transaction);
                }
            }
            offset += number(one, "records", 1);
        }
        for (Object info : infos.values()) {
            kafka.call("update", info);
        }
        List<Object> told = new ArrayList<>();
        for (Object transaction : completed) {
            told.add(kafka.complete(transaction));
        }
        kafka.call("updateMapEndOffset", offset);
        return told.isEmpty() ? Map.of("appended", first) : Map.of("appended", first, "completed", told);
    }

    private Object batch(Map<String, Object> asked, long offset, long producerId) throws Exception {
        short epoch = (short) number(asked, "epoch", 0);
        long timestamp = number(asked, "timestamp", 0);
        if (asked.get("op").equals("marker")) {
            return batches.marker(offset, producerId, epoch, timestamp, (Boolean) asked.get("commit"), (int) number(asked, "coordinator_epoch", 0));
        }
        boolean transactional = (Boolean) asked.getOrDefault("transactional", false);
        int sequence = integer(asked.get("first_sequence"));
        return batches.data(offset, producerId, epoch, sequence, integer(asked.get("records")), timestamp, transactional);
    }

    private Map<String, Object> verify(Map<String, Object> asked) throws Exception {
        long producerId = number(asked, "producer_id", -1);
        if (!kafka.has("maybeCreateVerificationStateEntry")) {
            return Map.of();
        }
        seen.add(producerId);
        kafka.now = number(asked, "now", 0);
        boolean bump = (Boolean) asked.getOrDefault("supports_epoch_bump", false);
        kafka.verify(producerId, integer(asked.get("sequence")), (short) number(asked, "epoch", 0), bump);
        return Map.of("verifying", kafka.verification(producerId));
    }

    private Map<String, Object> snapshot() throws Exception {
        if (kafka.takes("takeSnapshot") == 1) {
            kafka.call("takeSnapshot", false);
        } else {
            kafka.call("takeSnapshot");
        }
        File file = folder.file(kafka.end());
        return file.isFile() ? Map.of("bytes", HexFormat.of().formatHex(Files.readAllBytes(file.toPath()))) : Map.of();
    }

    /** Reads these bytes as a snapshot; under an offset they stay, as if the broker had written them before. */
    private Map<String, Object> load(Map<String, Object> asked) throws Exception {
        File file = asked.get("offset") == null ? new File(folder.made(), "asked") : folder.file(number(asked, "offset", 0));
        Files.write(file.toPath(), bytes(asked.get("bytes")));
        try {
            return Map.of("producers", kafka.read(file));
        } finally {
            if (asked.get("offset") == null) {
                Files.delete(file.toPath());
            }
        }
    }

    private Map<String, Object> move(String op, Map<String, Object> asked) throws Exception {
        switch (op) {
            case "expire":
                kafka.call("removeExpiredProducers", number(asked, "now", 0));
                return Map.of();
            case "truncate":
                kafka.call("truncateAndReload", number(asked, "start", 0), number(asked, "end", 0), number(asked, "now", 0));
                return Map.of();
            case "start_over":
                startOver(number(asked, "offset", 0));
                return Map.of();
            case "log_start":
                kafka.call(kafka.has("truncateHead") ? "truncateHead" : "onLogStartOffsetIncremented", number(asked, "offset", 0));
                return Map.of();
            case "high_watermark":
                kafka.call("onHighWatermarkUpdated", number(asked, "offset", 0));
                return Map.of();
            case "delete_snapshots":
                kafka.call("deleteSnapshotsBefore", number(asked, "before", 0));
                return Map.of();
            default:
                throw new IllegalArgumentException("there is no step " + op);
        }
    }

    /** To 2.6 the log empties the manager and then tells it where it starts. */
    private void startOver(long offset) throws Exception {
        if (kafka.has("truncateFullyAndStartAt")) {
            kafka.call("truncateFullyAndStartAt", offset);
        } else {
            kafka.call("truncate");
            kafka.call("updateMapEndOffset", offset);
        }
    }

    private Map<String, Object> look() throws Exception {
        Map<String, Object> told = new LinkedHashMap<>();
        List<Map<String, Object>> producers = kafka.producers();
        producers.sort(Comparator.comparing(producer -> (Long) producer.get("id")));
        told.put("producers", producers);
        told.put("end", kafka.end());
        told.put("first_unstable", kafka.firstUnstable());
        told.put("first_undecided", kafka.inside(kafka.call("firstUndecidedOffset")));
        told.put("latest_snapshot", kafka.inside(kafka.call("latestSnapshotOffset")));
        List<Object> verifying = new ArrayList<>();
        for (long producerId : seen) {
            List<Object> found = kafka.verification(producerId);
            if (found != null) {
                verifying.add(found);
            }
        }
        told.put("verifying", verifying);
        return told;
    }

    private static long number(Map<String, Object> asked, String name, long otherwise) {
        Object found = asked.get(name);
        return found == null ? otherwise : ((Number) found).longValue();
    }
}
