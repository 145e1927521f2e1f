package kafkaoracle.transactions;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import kafkaoracle.reflection.Members;

/** What a TransactionManager keeps about one partition. */
final class PartitionSequences {
    static final List<Object> NO_PRODUCER = List.of(-1L, -1);

    Object next = 0;
    Object lastAcknowledged = -1;
    Iterable<?> inFlight = List.of();
    /** True, or the sequence up to which sequences are unresolved; null if none is. */
    Object unresolved;
    Object lastOffset = -1L;
    List<Object> producer = NO_PRODUCER;

    /** Reads an entry of a release that keeps one for each partition. */
    void read(Object entry, boolean withProducer) throws ReflectiveOperationException {
        next = Members.get(entry, "nextSequence");
        lastAcknowledged = Members.get(entry, "lastAckedSequence");
        inFlight = (Iterable<?>) Members.get(entry, "inflightBatchesBySequence");
        if (withProducer) {
            lastOffset = Members.get(entry, "lastAckedOffset");
            boolean keepsProducer = Members.field(entry.getClass(), "producerIdAndEpoch") != null;
            producer = keepsProducer ? idAndEpoch(Members.get(entry, "producerIdAndEpoch")) : NO_PRODUCER;
        }
    }

    static List<Object> idAndEpoch(Object producer) throws ReflectiveOperationException {
        return List.of(Members.get(producer, "producerId"), ((Short) Members.get(producer, "epoch")).intValue());
    }

    /** Null if nothing is known. */
    Map<String, Object> describe(boolean withProducer) throws ReflectiveOperationException {
        List<Integer> bases = new ArrayList<>();
        for (Object batch : inFlight) {
            bases.add((Integer) Members.call(batch, "baseSequence"));
        }
        bases.sort(null);
        if (next.equals(0) && lastAcknowledged.equals(-1) && bases.isEmpty() && unresolved == null
            && lastOffset.equals(-1L) && producer.equals(NO_PRODUCER)) {
            return null;
        }
        Map<String, Object> described = new HashMap<>();
        described.put("next", next);
        described.put("last_acknowledged", lastAcknowledged);
        described.put("in_flight", bases);
        described.put("unresolved", unresolved);
        if (withProducer) {
            described.put("last_offset", lastOffset);
            described.put("producer", producer);
        }
        return described;
    }
}
