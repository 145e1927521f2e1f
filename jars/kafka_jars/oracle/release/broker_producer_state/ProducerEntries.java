package kafkaoracle.broker_producer_state;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import kafkaoracle.reflection.Members;

/** The answer's form of what the broker keeps about a producer: a ProducerStateEntry, up to 1.0.1 a ProducerIdEntry, in 0.11 with one batch. */
final class ProducerEntries {
    private static final List<String> OF_BATCH = List.of("firstSeq", "lastSeq", "firstOffset", "lastOffset", "timestamp");

    private ProducerEntries() {
    }

    /** One map for each entry of a collection of Java's or of Scala's, in its order. */
    static List<Map<String, Object>> describe(Object entries) throws ReflectiveOperationException {
        List<Map<String, Object>> described = new ArrayList<>();
        for (Object entry : Containers.elements(entries)) {
            described.add(describeOne(entry));
        }
        return described;
    }

    private static Map<String, Object> describeOne(Object entry) throws ReflectiveOperationException {
        boolean in011 = !Members.has(entry, "batchMetadata");
        Map<String, Object> described = new LinkedHashMap<>();
        described.put("id", Members.read(entry, "producerId"));
        described.put("epoch", Members.read(entry, "producerEpoch"));
        described.put("last_sequence", Members.read(entry, "lastSeq"));
        described.put("last_offset", Members.read(entry, in011 ? "lastOffset" : "lastDataOffset"));
        described.put("timestamp", Members.read(entry, in011 ? "timestamp" : "lastTimestamp"));
        described.put("coordinator_epoch", Members.read(entry, "coordinatorEpoch"));
        described.put("transaction", Containers.value(Members.read(entry, "currentTxnFirstOffset")));
        List<Object> batches = new ArrayList<>();
        for (Object batch : in011 ? List.of(entry) : Containers.elements(Members.read(entry, "batchMetadata"))) {
            List<Object> numbers = new ArrayList<>();
            for (String name : OF_BATCH) {
                numbers.add(Members.read(batch, name));
            }
            batches.add(numbers);
        }
        described.put("batches", batches);
        return described;
    }
}
