package kafkaoracle.record_accumulator;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import kafkaoracle.accumulator.AccumulatorAccess;
import kafkaoracle.accumulator.BatchAccess;
import kafkaoracle.accumulator.RecordAppend;
import kafkaoracle.cluster.ClusterView;
import kafkaoracle.record_accumulator.NumberedBatches.State;
import kafkaoracle.reflection.Members;
import kafkaoracle.rule.DrawingScriptRule;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicPartition;

/**
 * RecordAccumulator, step by step, as KafkaProducer and Sender use it. Batches are ended by a real Sender.
 *
 * A step whose batch is in no state for it does nothing, and a step that a release does not have does nothing; both are
 * answered by {}.
 */
public final class RecordAccumulatorRule extends DrawingScriptRule {
    private final AccumulatorAccess kafka = new AccumulatorAccess();

    private Set<String> topics;
    private ClusterView view;
    private NumberedBatches batches;
    private SenderCalls sender;

    public RecordAccumulatorRule(String release) throws ReflectiveOperationException {
    }

    @Override
    @SuppressWarnings("unchecked")
    protected void start(Map<String, Object> question) throws Exception {
        topics = new LinkedHashSet<>((List<String>) question.getOrDefault("topics", List.of("t")));
        batches = new NumberedBatches();
        Map<String, Object> config = (Map<String, Object>) question.get("config");
        kafka.choice.choose(config);
        kafka.begin(config);
        see(question);
        sender = new SenderCalls(kafka, view);
    }

    private void see(Map<String, Object> described) throws Exception {
        view = kafka.view(described.get("cluster"), (List<?>) described.getOrDefault("epochs", List.of()), topics);
    }

    @Override
    protected Map<String, Object> take(String op, Map<String, Object> step) throws Exception {
        switch (op) {
            case "append":
                return append(step);
            case "ready":
                return kafka.ready(view);
            case "drain":
                return drain(step);
            case "reenqueue":
                return reenqueue(batches.find(integer(step.get("batch")), false));
            case "split":
                return split(batches.find(integer(step.get("batch")), false));
            case "complete":
                Object batch = batches.find(integer(step.get("batch")), true);
                return end(batch, batch != null && batches.state(batch) == State.EXPIRED ? "expired" : null);
            case "fail":
                return end(batches.find(integer(step.get("batch")), false), (String) step.getOrDefault("why", "exhausted"));
            case "load":
                return kafka.load(topic(step));
            case "expire":
                return expire();
            case "flushed":
                return finishFlush();
            case "abort":
                return abort(true);
            case "abort_undrained":
                return abort(false);
            case "look":
                return look();
            default:
                change(op, step);
                return Map.of();
        }
    }

    /** The steps that are answered by {}. */
    private void change(String op, Map<String, Object> step) throws Exception {
        switch (op) {
            case "advance":
                kafka.clock.now += number(step, "ms", 0);
                return;
            case "cluster":
                see(step);
                return;
            case "producer":
                if (kafka.transactions != null) {
                    setProducer(step.get("id"), step.getOrDefault("epoch", 0));
                }
                return;
            case "latency":
                kafka.updateLatency(integer(step.get("node")), (Boolean) step.get("can_drain"));
                return;
            case "mute":
                kafka.call("mutePartition", partition(step));
                return;
            case "unmute":
                kafka.unmute(partition(step), number(step, "throttle_ms", 0));
                return;
            case "blocked":
                kafka.block(integer(step.get("threads")));
                return;
            case "flush":
                kafka.call("beginFlush");
                return;
            case "close":
                kafka.call("close");
                return;
            default:
                throw new IllegalArgumentException("a script of RecordAccumulatorRule has no step " + op);
        }
    }

    /** Sets another id or epoch; a release that loses all sequences with an id loses them here. */
    private void setProducer(Object id, Object epoch) throws Exception {
        if (kafka.transactions.has("resetProducerId")) {
            kafka.transactions.call("resetProducerId");
        }
        kafka.transactions.setProducer(id, epoch);
    }

    private static String topic(Map<String, Object> step) {
        return (String) step.getOrDefault("topic", "t");
    }

    private static TopicPartition partition(Map<String, Object> step) {
        return new TopicPartition(topic(step), integer(step.get("partition")));
    }

    private Map<String, Object> append(Map<String, Object> step) throws Exception {
        Object partition = step.get("partition");
        if (partition == null && !RecordAppend.CHOOSES_PARTITION) {
            partition = step.get("chosen");
            if (partition == null) {
                return Map.of();
            }
        }
        TopicPartition to = new TopicPartition(topic(step), partition == null ? -1 : integer(partition));
        try {
            return kafka.appends.describe(kafka.append(
                to, number(step, "timestamp", 0), bytes(step.get("key")), bytes(step.get("value")),
                (List<?>) step.getOrDefault("headers", List.of()), view, null));
        } finally { // Kafka may throw after it made a batch
            Deque<?> queue = kafka.deque(new TopicPartition(to.topic(), kafka.appends.partition));
            if (queue != null && !queue.isEmpty() && !batches.has(queue.peekLast())) {
                number(queue.peekLast(), State.QUEUED);
            }
        }
    }

    private void number(Object batch, State state) throws Exception {
        kafka.codec.takeOver(batch, batches.size());
        batches.add(batch, state);
    }

    private Map<String, Object> drain(Map<String, Object> step) throws Exception {
        Set<Node> nodes = new LinkedHashSet<>();
        for (Object id : (List<?>) step.get("nodes")) {
            nodes.add(view.node(integer(id)));
        }
        Map<Integer, ? extends List<?>> byNode;
        try {
            byNode = kafka.drain(view, nodes, integer(step.get("max_size")));
        } finally {
            for (Object batch : batches.in(State.QUEUED)) { // lost, unless it is among the drained ones below
                if (!kafka.isQueued(batch)) {
                    batches.set(batch, State.LOST);
                }
            }
        }
        List<Object> drained = new ArrayList<>();
        for (Node node : nodes) {
            for (Object batch : byNode.get(node.id())) {
                batches.set(batch, State.DRAINED);
                BatchAccess.setInFlight(batch, true);
                Map<String, Object> answer = new HashMap<>();
                answer.put("id", batches.number(batch));
                answer.put("partition", BatchAccess.topicPartition(batch).partition());
                answer.put("records", BatchAccess.recordCount(batch));
                if (kafka.transactions != null) {
                    Object written = ((Iterable<?>) Members.call(BatchAccess.records(batch), "batches")).iterator().next();
                    answer.put("sequence", Members.call(written, "baseSequence"));
                    answer.put("epoch", Members.call(written, "producerEpoch"));
                }
                drained.add(answer);
            }
        }
        return Map.of("batches", drained);
    }

    private Map<String, Object> reenqueue(Object batch) throws Exception {
        if (batch != null) {
            BatchAccess.setInFlight(batch, false);
            kafka.reenqueue(batch);
            batches.set(batch, State.QUEUED);
        }
        return Map.of();
    }

    /** {@code failure} is why the batch failed, or null if it was acknowledged. */
    private Map<String, Object> end(Object batch, String failure) throws Exception {
        if (batch == null || "expired".equals(failure) && batches.state(batch) == State.DRAINED && !kafka.expiresInFlight) {
            return Map.of();
        }
        sender.end(batch, failure);
        batches.set(batch, State.DONE);
        return Map.of("memory", kafka.memory());
    }

    private Map<String, Object> split(Object batch) throws Exception {
        if (batch == null || !kafka.splits) {
            return Map.of();
        }
        BatchAccess.setInFlight(batch, false);
        if (kafka.transactions != null && kafka.transactions.has("removeInFlightBatch")) {
            kafka.transactions.call("removeInFlightBatch", batch);
        }
        Deque<?> queue;
        try {
            queue = new ArrayDeque<>(kafka.split(batch));
        } catch (Exception thrown) { // a piece may be incomplete and in no queue
            for (Object piece : kafka.incomplete()) {
                if (!batches.has(piece)) {
                    number(piece, State.LOST);
                }
            }
            throw thrown;
        }
        List<Integer> pieces = new ArrayList<>();
        for (Object piece : queue) {
            if (!batches.has(piece)) {
                number(piece, State.QUEUED);
                pieces.add(BatchAccess.recordCount(piece));
            }
        }
        kafka.release(batch, false);
        batches.set(batch, State.DONE);
        return Map.of("pieces", pieces, "memory", kafka.memory());
    }

    private Map<String, Object> expire() throws Exception {
        List<Integer> expired = new ArrayList<>();
        for (Object batch : kafka.expire()) {
            expired.add(batches.number(batch));
            batches.set(batch, kafka.completesExpired ? State.DONE : State.EXPIRED);
        }
        Map<String, Object> answer = new HashMap<>();
        answer.put("batches", expired);
        answer.put("next_expiry_ms", kafka.nextExpiry());
        return answer;
    }

    private Map<String, Object> finishFlush() throws Exception {
        if (!kafka.incomplete().isEmpty()) {
            return Map.of();
        }
        kafka.call("awaitFlushCompletion");
        return Map.of("flushing", Members.call(kafka.accumulator, "flushInProgress"));
    }

    private Map<String, Object> abort(boolean all) throws Exception {
        Set<Object> aborted = kafka.incomplete();
        if (!kafka.abort(all)) {
            return Map.of();
        }
        kafka.codec.startAgain();
        aborted.removeAll(kafka.incomplete());
        for (Object batch : aborted) {
            batches.set(batch, BatchAccess.isInFlight(batch) ? State.ABORTED_IN_FLIGHT : State.DONE);
        }
        return Map.of("memory", kafka.memory());
    }

    private Map<String, Object> look() throws Exception {
        Map<String, Object> queues = new TreeMap<>();
        for (Map.Entry<TopicPartition, Deque<?>> entry : kafka.queues().entrySet()) {
            List<Object> queue = new ArrayList<>();
            for (Object batch : entry.getValue()) {
                queue.add(List.of(batches.number(batch), BatchAccess.recordCount(batch), BatchAccess.size(batch)));
            }
            queues.put(entry.getKey().toString(), queue);
        }
        Set<Integer> incomplete = new TreeSet<>();
        for (Object batch : kafka.incomplete()) {
            incomplete.add(batches.number(batch));
        }
        Map<String, Object> answer = new HashMap<>(
            Map.of("queues", queues, "memory", kafka.memory(), "incomplete", incomplete, "undrained", kafka.hasUndrained()));
        if (kafka.transactions != null) {
            answer.put("sequences", kafka.transactions.look(false));
        }
        return answer;
    }
}
