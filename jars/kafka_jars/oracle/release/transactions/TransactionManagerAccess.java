package kafkaoracle.transactions;

import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import kafkaoracle.accumulator.AccumulatorAccess;
import kafkaoracle.rule.Rule;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TimeoutException;

/**
 * An idempotent producer, as the accumulator meets it: this release's TransactionManager without a transactional id.
 *
 * Who it is comes from the question. What becomes of a batch is told to it as this release's Sender does: to 2.2 that is
 * a few calls, made here one by one; since 2.3 it is handleCompletedBatch or handleFailedBatch.
 */
public final class TransactionManagerAccess {
    private static final List<Object> NOBODY = List.of(-1L, -1);

    public final Object manager;

    private final Class<?> managerClass;
    private final Method setId;
    private final Class<?> idClass;
    private final boolean tracks;

    public TransactionManagerAccess(Class<?> managerClass, Map<?, ?> asked) throws Exception {
        this.managerClass = managerClass;
        setId = method("setProducerIdAndEpoch");
        idClass = setId.getParameterTypes()[0];
        tracks = method("addInFlightBatch") != null;
        Constructor<?> constructor = Arrays.stream(managerClass.getDeclaredConstructors())
            .max(Comparator.comparing(Constructor::getParameterCount)).orElseThrow();
        List<Object> arguments = new ArrayList<>();
        for (Class<?> type : constructor.getParameterTypes()) {
            Object retryBackoff = asked.containsKey("retry_backoff_ms") ? ((Number) asked.get("retry_backoff_ms")).longValue() : 100L;
            arguments.add(type == int.class ? (Object) 60000 : type == long.class ? retryBackoff
                : type == boolean.class ? (Object) false : type == String.class || type.getSimpleName().equals("Metadata") ? null
                : type.getConstructor().newInstance());
        }
        manager = constructor.newInstance(arguments.toArray());
        Object id = id(asked.get("id"), asked.get("epoch"));
        setId.invoke(manager, id);
        begin(asked.get("next_sequences") == null ? Map.of() : (Map<?, ?>) asked.get("next_sequences"), id);
    }

    /** So many records were sent to these partitions by the producer of this id, and all were acknowledged. */
    public void begin(Map<?, ?> sequences, Object id) throws Exception {
        for (Map.Entry<?, ?> entry : sequences.entrySet()) {
            String name = (String) entry.getKey();
            int dash = name.lastIndexOf('-');
            TopicPartition of = new TopicPartition(name.substring(0, dash), Integer.parseInt(name.substring(dash + 1)));
            begin(of, Rule.integer(entry.getValue()), id);
        }
    }

    private Object id(Object id, Object epoch) throws Exception {
        if (id == null) {
            return AccumulatorAccess.field(idClass, "NONE").get(null);
        }
        Constructor<?> made = idClass.getDeclaredConstructor(long.class, short.class);
        made.setAccessible(true);
        return made.newInstance(((Number) id).longValue(), ((Number) epoch).shortValue());
    }

    @SuppressWarnings("unchecked")
    private void begin(TopicPartition of, int next, Object id) throws Exception {
        Field direct = field(tracks ? "nextSequence" : "sequenceNumbers");
        if (direct != null) {
            ((Map<TopicPartition, Integer>) direct.get(manager)).put(of, next);
            if (tracks) {
                ((Map<TopicPartition, Integer>) field("lastAckedSequence").get(manager)).put(of, next - 1);
            }
            return;
        }
        Object all = entries();
        for (String name : List.of("addPartition", "getOrCreatePartition", "getOrCreate")) {
            Method made = AccumulatorAccess.declared(all.getClass(), name);
            if (made != null) {
                made.invoke(all, of);
            }
        }
        Object entry = byPartition(all).get(of);
        set(entry, "nextSequence", next);
        set(entry, "lastAckedSequence", next - 1);
        set(entry, "producerIdAndEpoch", id);
    }

    private static void set(Object entry, String name, Object value) throws Exception {
        Field field = AccumulatorAccess.field(entry.getClass(), name);
        if (field != null) {
            field.set(entry, value);
        }
    }

    private Object entries() throws Exception {
        Field all = field("topicPartitionBookkeeper") != null ? field("topicPartitionBookkeeper") : field("txnPartitionMap");
        return all.get(manager);
    }

    private static Map<?, ?> byPartition(Object entries) throws Exception {
        Field map = AccumulatorAccess.field(entries.getClass(), "topicPartitions");
        return (Map<?, ?>) (map != null ? map : AccumulatorAccess.field(entries.getClass(), "topicPartitionBookkeeping")).get(entries);
    }

    /** Another id or epoch; a release that loses all sequences with an id loses them here. */
    public void become(Object id, Object epoch) throws Exception {
        Method reset = method("resetProducerId");
        if (reset != null) {
            reset.invoke(manager);
        }
        setId.invoke(manager, id(id, epoch));
    }

    /** What a drained batch says on the wire. */
    public void describe(Object batch, Map<String, Object> answer) throws Exception {
        Object records = AccumulatorAccess.declared(batch.getClass(), "records").invoke(batch);
        Object written = ((Iterable<?>) AccumulatorAccess.declared(records.getClass(), "batches").invoke(records)).iterator().next();
        answer.put("sequence", AccumulatorAccess.declared(written.getClass(), "baseSequence").invoke(written));
        answer.put("epoch", AccumulatorAccess.declared(written.getClass(), "producerEpoch").invoke(written));
    }

    public void acknowledged(Object batch, TopicPartition of, int records) throws Exception {
        Method completed = method("handleCompletedBatch");
        if (completed != null) {
            Object response = answered(completed.getParameterTypes()[1]);
            Rule.kafka(() -> completed.invoke(manager, batch, response));
            return;
        }
        boolean known = (Boolean) method("hasProducerIdAndEpoch").invoke(manager, of(batch, "producerId"), of(batch, "producerEpoch"));
        if (known && !tracks) {
            Rule.kafka(() -> method("incrementSequenceNumber").invoke(manager, of, records));
        } else if (known) {
            int last = (Integer) of(batch, "baseSequence") + records - 1;
            Rule.kafka(() -> method("maybeUpdateLastAckedSequence").invoke(manager, of, last));
        }
        released(batch);
    }

    private static Object answered(Class<?> type) throws Exception {
        Constructor<?> made = Arrays.stream(type.getConstructors()).filter(one -> one.getParameterCount() == 1).findFirst().orElseThrow();
        return made.newInstance(made.getParameterTypes()[0].getField("NONE").get(null));
    }

    private static Object of(Object batch, String name) throws Exception {
        return AccumulatorAccess.declared(batch.getClass(), name).invoke(batch);
    }

    public void failed(Object batch, boolean refused) throws Exception {
        Method failed = method("handleFailedBatch");
        if (failed != null) {
            Rule.kafka(() -> failed.invoke(manager, batch, new TimeoutException("failed"), refused));
            return;
        }
        released(batch);
        if (tracks && refused) {
            Rule.kafka(() -> method("adjustSequencesDueToFailedBatch").invoke(manager, batch));
        }
    }

    /** A batch that expired after it had been sent again: nobody knows whether it arrived. */
    public void doubted(Object batch, TopicPartition of) throws Exception {
        Method unresolved = method("markSequenceUnresolved");
        if (unresolved == null) {
            Rule.kafka(() -> method("resetProducerId").invoke(manager));
        } else {
            Object what = unresolved.getParameterTypes()[0] == TopicPartition.class ? of : batch;
            Rule.kafka(() -> unresolved.invoke(manager, what));
        }
    }

    /** A batch is not in flight any more. */
    public void released(Object batch) throws Exception {
        Method removed = method("removeInFlightBatch");
        if (removed != null) {
            Rule.kafka(() -> removed.invoke(manager, batch));
        }
    }

    /** What is known of each partition of which anything is. */
    public Map<String, Object> look() throws Exception {
        return look(false);
    }

    /** And, if {@code more}, the last offset acknowledged, and the id and epoch that the partition is at. */
    public Map<String, Object> look(boolean more) throws Exception {
        Map<TopicPartition, Object[]> found = new HashMap<>();
        if (!tracks) {
            put(found, "sequenceNumbers", 0);
        } else if (field("nextSequence") != null) {
            put(found, "nextSequence", 0);
            put(found, "lastAckedSequence", 1);
            put(found, "inflightBatchesBySequence", 2);
            if (more && field("lastAckedOffset") != null) {
                put(found, "lastAckedOffset", 4);
            }
        } else {
            for (Map.Entry<?, ?> entry : byPartition(entries()).entrySet()) {
                Object[] known = known(found, entry.getKey());
                known[0] = AccumulatorAccess.field(entry.getValue().getClass(), "nextSequence").get(entry.getValue());
                known[1] = AccumulatorAccess.field(entry.getValue().getClass(), "lastAckedSequence").get(entry.getValue());
                known[2] = AccumulatorAccess.field(entry.getValue().getClass(), "inflightBatchesBySequence").get(entry.getValue());
                if (more) {
                    known[4] = AccumulatorAccess.field(entry.getValue().getClass(), "lastAckedOffset").get(entry.getValue());
                    Field at = AccumulatorAccess.field(entry.getValue().getClass(), "producerIdAndEpoch");
                    known[5] = at == null ? known[5] : numbers(at.get(entry.getValue()));
                }
            }
        }
        Object unresolved = tracks ? field("partitionsWithUnresolvedSequences").get(manager) : Set.of();
        boolean upTo = unresolved instanceof Map;
        for (Object of : upTo ? ((Map<?, ?>) unresolved).keySet() : (Set<?>) unresolved) {
            known(found, of)[3] = upTo ? ((Map<?, ?>) unresolved).get(of) : true;
        }
        Map<String, Object> answer = new TreeMap<>();
        for (Map.Entry<TopicPartition, Object[]> entry : found.entrySet()) {
            describe(entry.getKey().toString(), entry.getValue(), more, answer);
        }
        return answer;
    }

    private void put(Map<TopicPartition, Object[]> found, String name, int at) throws Exception {
        for (Map.Entry<?, ?> entry : ((Map<?, ?>) field(name).get(manager)).entrySet()) {
            known(found, entry.getKey())[at] = entry.getValue();
        }
    }

    private static Object[] known(Map<TopicPartition, Object[]> found, Object of) {
        return found.computeIfAbsent((TopicPartition) of, key -> new Object[] {0, -1, List.of(), null, -1L, NOBODY});
    }

    private static List<Object> numbers(Object idAndEpoch) throws Exception {
        Class<?> type = idAndEpoch.getClass();
        return List.of(AccumulatorAccess.field(type, "producerId").get(idAndEpoch),
            ((Short) AccumulatorAccess.field(type, "epoch").get(idAndEpoch)).intValue());
    }

    /** Who the producer is: its id and its epoch. */
    public List<Object> identity() throws Exception {
        return numbers(field("producerIdAndEpoch").get(manager));
    }

    /** Who the producer is, as Kafka has it. */
    public Object current() throws Exception {
        return field("producerIdAndEpoch").get(manager);
    }

    public Object state() throws Exception {
        return field("currentState").get(manager).toString();
    }

    private static void describe(String name, Object[] known, boolean more, Map<String, Object> into) throws Exception {
        List<Integer> bases = new ArrayList<>();
        for (Iterator<?> batches = ((Iterable<?>) known[2]).iterator(); batches.hasNext();) {
            bases.add((Integer) of(batches.next(), "baseSequence"));
        }
        bases.sort(null);
        boolean silent = known[0].equals(0) && known[1].equals(-1) && bases.isEmpty() && known[3] == null
            && known[4].equals(-1L) && known[5].equals(NOBODY);
        if (!silent) {
            Map<String, Object> described = new HashMap<>();
            described.put("next", known[0]);
            described.put("last_acknowledged", known[1]);
            described.put("in_flight", bases);
            described.put("unresolved", known[3]);
            if (more) {
                described.put("last_offset", known[4]);
                described.put("producer", known[5]);
            }
            into.put(name, described);
        }
    }

    private Method method(String name) {
        return AccumulatorAccess.declared(managerClass, name);
    }

    private Field field(String name) {
        return AccumulatorAccess.field(managerClass, name);
    }
}
