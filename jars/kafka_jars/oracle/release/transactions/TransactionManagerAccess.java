package kafkaoracle.transactions;

import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.BiConsumer;
import kafkaoracle.reflection.Arguments;
import kafkaoracle.reflection.Members;
import kafkaoracle.rule.Rule;
import org.apache.kafka.common.TopicPartition;

/**
 * This release's TransactionManager of an idempotent producer without a transactional id.
 *
 * In 0.11 it keeps the next sequence of each partition and nothing else; until it got an entry for each partition it kept
 * a map for each kind of number.
 */
public final class TransactionManagerAccess {
    public final Object manager;
    /** Whether it keeps track of batches in flight: since 1.0. */
    public final boolean tracksBatches;

    public TransactionManagerAccess(Object manager) {
        this.manager = manager;
        tracksBatches = has("addInFlightBatch");
    }

    /** The manager for an accumulator that is made by {@code accumulator}; null if the question or the release has none. */
    public static TransactionManagerAccess create(Constructor<?> accumulator, Map<?, ?> config) throws Exception {
        Class<?> type = Arrays.stream(accumulator.getParameterTypes())
            .filter(each -> each.getSimpleName().equals("TransactionManager")).findFirst().orElse(null);
        if (config == null || type == null) {
            return null;
        }
        Constructor<?> constructor = Members.constructor(type);
        Object[] arguments = new Arguments()
            .giveAll(int.class, 60000).giveAll(long.class, Rule.number(config, "retry_backoff_ms", 100))
            .giveAll(boolean.class, false).giveAll(String.class, null)
            .match(constructor.getParameterTypes(), each ->
                each.getSimpleName().equals("Metadata") ? null : each.getConstructor().newInstance());
        TransactionManagerAccess made = new TransactionManagerAccess(constructor.newInstance(arguments));
        made.setProducer(config.get("id"), config.get("epoch"));
        made.begin(config.get("next_sequences") == null ? Map.of() : (Map<?, ?>) config.get("next_sequences"));
        return made;
    }

    public boolean has(String method) {
        return Members.has(manager, method);
    }

    /** Calls a method of the manager; what it throws is the answer. */
    public Object call(String name, Object... arguments) throws Exception {
        return Rule.kafka(manager, name, arguments);
    }

    /** Sets id and epoch; no id is Kafka's NONE. */
    public void setProducer(Object id, Object epoch) throws ReflectiveOperationException {
        Method set = Members.method(manager.getClass(), "setProducerIdAndEpoch");
        Class<?> type = set.getParameterTypes()[0];
        set.invoke(manager, id == null ? Members.getStatic(type, "NONE")
            : Members.constructor(type).newInstance(((Number) id).longValue(), ((Number) epoch).shortValue()));
    }

    /** As many records as {@code sequences} says, by "topic-partition", were sent by this producer and acknowledged. */
    public void begin(Map<?, ?> sequences) throws ReflectiveOperationException {
        for (Map.Entry<?, ?> entry : sequences.entrySet()) {
            String name = (String) entry.getKey();
            int dash = name.lastIndexOf('-');
            TopicPartition topicPartition = new TopicPartition(name.substring(0, dash), Integer.parseInt(name.substring(dash + 1)));
            begin(topicPartition, Rule.integer(entry.getValue()));
        }
    }

    @SuppressWarnings("unchecked")
    private void begin(TopicPartition topicPartition, int next) throws ReflectiveOperationException {
        if (!keepsEntries()) {
            ((Map<TopicPartition, Integer>) get(tracksBatches ? "nextSequence" : "sequenceNumbers")).put(topicPartition, next);
            if (tracksBatches) {
                ((Map<TopicPartition, Integer>) get("lastAckedSequence")).put(topicPartition, next - 1);
            }
            return;
        }
        for (String name : List.of("addPartition", "getOrCreatePartition", "getOrCreate")) {
            if (Members.has(bookkeeper(), name)) {
                Members.call(bookkeeper(), name, topicPartition);
            }
        }
        Object entry = entries().get(topicPartition);
        Members.set(entry, "nextSequence", next);
        Members.set(entry, "lastAckedSequence", next - 1);
        if (Members.field(entry.getClass(), "producerIdAndEpoch") != null) {
            Members.set(entry, "producerIdAndEpoch", get("producerIdAndEpoch"));
        }
    }

    private boolean hasField(String name) {
        return Members.field(manager.getClass(), name) != null;
    }

    private Object get(String field) throws ReflectiveOperationException {
        return Members.get(manager, field);
    }

    private boolean keepsEntries() {
        return tracksBatches && !hasField("nextSequence");
    }

    private Object bookkeeper() throws ReflectiveOperationException {
        return get(hasField("topicPartitionBookkeeper") ? "topicPartitionBookkeeper" : "txnPartitionMap");
    }

    private Map<?, ?> entries() throws ReflectiveOperationException {
        Object all = bookkeeper();
        boolean isRenamed = Members.field(all.getClass(), "topicPartitions") != null;
        return (Map<?, ?>) Members.get(all, isRenamed ? "topicPartitions" : "topicPartitionBookkeeping");
    }

    /** The producer's id and epoch. */
    public List<Object> identity() throws ReflectiveOperationException {
        return PartitionSequences.idAndEpoch(get("producerIdAndEpoch"));
    }

    public String state() throws ReflectiveOperationException {
        return get("currentState").toString();
    }

    /**
     * What is known of each partition of which anything is, by "topic-partition"; {@code withProducer} adds the last offset
     * acknowledged, and the id and epoch that the partition's sequences belong to.
     */
    public Map<String, Object> look(boolean withProducer) throws ReflectiveOperationException {
        Map<TopicPartition, PartitionSequences> found = new HashMap<>();
        if (keepsEntries()) {
            for (Map.Entry<?, ?> entry : entries().entrySet()) {
                of(found, entry.getKey()).read(entry.getValue(), withProducer);
            }
        } else {
            each(found, tracksBatches ? "nextSequence" : "sequenceNumbers", (sequences, value) -> sequences.next = value);
            if (tracksBatches) {
                each(found, "lastAckedSequence", (sequences, value) -> sequences.lastAcknowledged = value);
                each(found, "inflightBatchesBySequence", (sequences, value) -> sequences.inFlight = (Iterable<?>) value);
            }
            if (withProducer && hasField("lastAckedOffset")) {
                each(found, "lastAckedOffset", (sequences, value) -> sequences.lastOffset = value);
            }
        }
        if (tracksBatches) {
            Object unresolved = get("partitionsWithUnresolvedSequences"); // a map to the sequence, or before that a set
            for (Object topicPartition : unresolved instanceof Map<?, ?> map ? map.keySet() : (Set<?>) unresolved) {
                of(found, topicPartition).unresolved = unresolved instanceof Map<?, ?> map ? map.get(topicPartition) : true;
            }
        }
        Map<String, Object> answer = new TreeMap<>();
        for (Map.Entry<TopicPartition, PartitionSequences> entry : found.entrySet()) {
            Map<String, Object> described = entry.getValue().describe(withProducer);
            if (described != null) {
                answer.put(entry.getKey().toString(), described);
            }
        }
        return answer;
    }

    private void each(Map<TopicPartition, PartitionSequences> found, String field, BiConsumer<PartitionSequences, Object> put)
        throws ReflectiveOperationException {
        ((Map<?, ?>) get(field)).forEach((topicPartition, value) -> put.accept(of(found, topicPartition), value));
    }

    private static PartitionSequences of(Map<TopicPartition, PartitionSequences> found, Object topicPartition) {
        return found.computeIfAbsent((TopicPartition) topicPartition, key -> new PartitionSequences());
    }
}
