package kafkaoracle.record_accumulator;

import java.lang.reflect.Method;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import kafkaoracle.accumulator.AccumulatorAccess;
import kafkaoracle.rule.Draws;
import kafkaoracle.rule.Rule;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicPartition;

/**
 * RecordAccumulator, step by step, as KafkaProducer and Sender use it, without either of them.
 *
 * Where a release keeps what, and what its methods take, is {@link AccumulatorAccess}'s business; what a step means
 * is here. Batches are numbered in the order in which they were made. A step whose batch is in no state for it does
 * nothing, and a step that a release does not know does nothing; both are answered by {}.
 *
 * Kafka may draw several times within one step. So the next draw of the question is put in before each step, those that
 * follow it within the step are what ThreadLocalRandom makes of it, and if any was taken, the question's is used up.
 */
public final class RecordAccumulatorRule extends Rule {
    private enum State { QUEUED, DRAINED, LOST, EXPIRED, ABORTED_IN_FLIGHT, DONE }

    private final AccumulatorAccess kafka = new AccumulatorAccess();
    private final Rule step = new Rule() {
        @Override
        protected Map<String, Object> answer(Map<String, Object> asked) throws Exception {
            return take((String) asked.get("op"), asked);
        }
    };

    private List<?> draws;
    private int drawn;
    private Set<String> topics;
    private AccumulatorAccess.View view;
    private IdentityHashMap<Object, Integer> ids;
    private List<Object> batches;
    private List<State> states;

    public RecordAccumulatorRule(String release) {
    }

    @Override
    @SuppressWarnings("unchecked")
    protected Map<String, Object> answer(Map<String, Object> question) throws Exception {
        draws = (List<?>) question.get("draws");
        drawn = 0;
        topics = new LinkedHashSet<>((List<String>) question.getOrDefault("topics", List.of("t")));
        ids = new IdentityHashMap<>();
        batches = new ArrayList<>();
        states = new ArrayList<>();
        Map<String, Object> config = (Map<String, Object>) question.get("config");
        String refused = kafka.allocation.choose(config);
        if (refused != null) {
            return Map.of("raises", refused);
        }
        kafka.begin(config);
        view = kafka.view(question.get("cluster"), (List<?>) question.getOrDefault("epochs", List.of()), topics);
        List<Object> answers = new ArrayList<>();
        for (Map<String, Object> asked : (List<Map<String, Object>>) question.get("steps")) {
            Draws.next(drawn < draws.size() ? integer(draws.get(drawn)) : 0);
            Map<String, Object> answered = step.apply(asked);
            if (Draws.used() > 0 && ++drawn > draws.size()) {
                throw new IllegalStateException("the question holds " + draws.size() + " draws and Kafka took one more: add draws to it");
            }
            // Texts name sizes and times that the answers show anyway, and were reworded often.
            answers.add(answered != null && answered.containsKey("raises") ? Map.of("raises", answered.get("raises")) : answered);
        }
        return Map.of("steps", answers);
    }

    private Map<String, Object> take(String op, Map<String, Object> asked) throws Exception {
        switch (op) {
            case "append":
                return append(asked);
            case "advance":
                kafka.now += ((Number) asked.get("ms")).longValue();
                return Map.of();
            case "ready":
                return kafka.ready(view);
            case "drain":
                return drain(asked);
            case "cluster":
                view = kafka.view(asked.get("cluster"), (List<?>) asked.getOrDefault("epochs", List.of()), topics);
                return Map.of();
            case "reenqueue":
            case "split":
            case "complete":
                return sent(op, integer(asked.get("batch")));
            case "fail":
                return failed((String) asked.getOrDefault("why", "exhausted"), integer(asked.get("batch")));
            case "producer":
                if (kafka.producer != null) {
                    kafka.producer.become(asked.get("id"), asked.getOrDefault("epoch", 0));
                }
                return Map.of();
            case "latency":
                kafka.latency(integer(asked.get("node")), (Boolean) asked.get("can_drain"));
                return Map.of();
            case "load":
                return kafka.load(topic(asked));
            case "mute":
                kafka.mute(partition(asked));
                return Map.of();
            case "unmute":
                kafka.unmute(partition(asked), ((Number) asked.getOrDefault("throttle_ms", 0)).longValue());
                return Map.of();
            case "expire":
                return expire();
            case "blocked":
                kafka.block(integer(asked.get("threads")));
                return Map.of();
            case "look":
                return look();
            default:
                return ending(op);
        }
    }

    private static String topic(Map<String, Object> asked) {
        return (String) asked.getOrDefault("topic", "t");
    }

    private static TopicPartition partition(Map<String, Object> asked) {
        return new TopicPartition(topic(asked), integer(asked.get("partition")));
    }

    private Map<String, Object> append(Map<String, Object> asked) throws Exception {
        Object partition = asked.get("partition");
        if (partition == null && !kafka.choosesPartitions) {
            partition = asked.get("chosen");
            if (partition == null) {
                return Map.of();
            }
        }
        Object result;
        try {
            result = kafka.append(topic(asked), partition == null ? -1 : integer(partition),
                ((Number) asked.get("timestamp")).longValue(), bytes(asked.get("key")), bytes(asked.get("value")),
                (List<?>) asked.getOrDefault("headers", List.of()), view);
        } finally { // a batch may have been made, and an exception raised all the same
            Deque<?> queue = kafka.deque(new TopicPartition(topic(asked), kafka.appendedTo));
            if (queue != null && !queue.isEmpty() && !ids.containsKey(queue.peekLast())) {
                number(queue.peekLast());
            }
        }
        Map<String, Object> answer = new HashMap<>();
        answer.put("partition", kafka.appendedTo);
        answer.put("batch_full", kafka.isFull(result));
        answer.put("new_batch", kafka.isNew(result));
        answer.put("bytes", kafka.bytesAppended(result));
        return answer;
    }

    private void number(Object batch) throws Exception {
        kafka.codec.takeOver(batch, batches.size());
        ids.put(batch, batches.size());
        batches.add(batch);
        states.add(State.QUEUED);
    }

    private Map<String, Object> drain(Map<String, Object> asked) throws Exception {
        Set<Node> nodes = new LinkedHashSet<>();
        for (Object id : (List<?>) asked.get("nodes")) {
            nodes.add(view.node(integer(id)));
        }
        List<Object> drained = new ArrayList<>();
        Map<Integer, ? extends List<?>> byNode;
        try {
            byNode = kafka.drain(view, nodes, integer(asked.get("max_size")));
        } finally {
            for (int id = 0; id < batches.size(); id++) { // until they turn up in the answer below
                if (states.get(id) == State.QUEUED && !kafka.isQueued(batches.get(id))) {
                    states.set(id, State.LOST);
                }
            }
        }
        for (Node node : nodes) {
            for (Object batch : byNode.get(node.id())) {
                int id = ids.get(batch);
                states.set(id, State.DRAINED);
                kafka.setInFlight(batch, true);
                Map<String, Object> answer = new HashMap<>();
                answer.put("id", id);
                answer.put("partition", kafka.of(batch).partition());
                answer.put("records", kafka.records(batch));
                if (kafka.producer != null) {
                    kafka.producer.describe(batch, answer);
                }
                drained.add(answer);
            }
        }
        return Map.of("batches", drained);
    }

    /** What becomes of a batch that was sent: it comes back, it comes back in pieces, or it is done with. */
    private Map<String, Object> sent(String op, int number) throws Exception {
        boolean splits = op.equals("split");
        int id = one(number, op.equals("complete"));
        if (id < 0 || splits && !kafka.splits) {
            return Map.of();
        }
        State state = states.get(id);
        Object batch = batches.get(id);
        if (op.equals("complete")) {
            settle(batch, state == State.EXPIRED ? "expired" : null);
            return done(id, new HashMap<>());
        }
        kafka.setInFlight(batch, false);
        if (op.equals("reenqueue")) {
            kafka.reenqueue(batch);
            states.set(id, State.QUEUED);
            return Map.of();
        }
        return done(id, split(batch));
    }

    private Map<String, Object> failed(String why, int number) throws Exception {
        int id = one(number, false);
        if (id < 0 || why.equals("expired") && !kafka.expiresInFlight) {
            return Map.of();
        }
        settle(batches.get(id), why);
        return done(id, new HashMap<>());
    }

    /** The producer is told what Sender tells it: why a batch failed, or null if it did not. */
    private void settle(Object batch, String why) throws Exception {
        if (kafka.producer == null) {
            return;
        }
        if (why == null) {
            kafka.producer.acknowledged(batch, kafka.of(batch), kafka.records(batch));
            return;
        }
        kafka.producer.failed(batch, why.equals("refused"));
        if (why.equals("expired") && kafka.inRetry(batch)) {
            kafka.producer.doubted(batch, kafka.of(batch));
        }
    }

    private Map<String, Object> split(Object batch) throws Exception {
        if (kafka.producer != null) {
            kafka.producer.released(batch);
        }
        Deque<?> queue;
        try {
            queue = new ArrayDeque<>(kafka.split(batch));
        } catch (Exception raised) { // one piece may have been made known to nobody but the accumulator
            for (Object piece : kafka.incomplete()) {
                if (!ids.containsKey(piece)) {
                    number(piece);
                    states.set(ids.get(piece), State.LOST);
                }
            }
            throw raised;
        }
        List<Integer> pieces = new ArrayList<>();
        for (Object piece : queue) {
            if (!ids.containsKey(piece)) {
                number(piece);
                pieces.add(kafka.records(piece));
            }
        }
        Map<String, Object> answer = new HashMap<>();
        answer.put("pieces", pieces);
        return answer;
    }

    private Map<String, Object> done(int id, Map<String, Object> answer) throws Exception {
        kafka.setInFlight(batches.get(id), false);
        kafka.release(batches.get(id), states.get(id) == State.ABORTED_IN_FLIGHT);
        states.set(id, State.DONE);
        answer.put("memory", kafka.memory());
        return answer;
    }

    /** The batch of this number, if it is out; below 0 is counted back from the last one that is; else -1. */
    private int one(int number, boolean toBeCompleted) {
        List<Integer> out = out(toBeCompleted);
        int id = number >= 0 ? number : -number <= out.size() ? out.get(out.size() + number) : -1;
        return out.contains(id) ? id : -1;
    }

    private List<Integer> out(boolean toBeCompleted) {
        List<Integer> found = new ArrayList<>();
        for (int id = 0; id < states.size(); id++) {
            State state = states.get(id);
            if (state == State.DRAINED || toBeCompleted && (state == State.EXPIRED || state == State.ABORTED_IN_FLIGHT)) {
                found.add(id);
            }
        }
        return found;
    }

    private Map<String, Object> expire() throws Exception {
        List<Integer> expired = new ArrayList<>();
        for (Object batch : kafka.expire()) {
            int id = ids.get(batch);
            expired.add(id);
            states.set(id, kafka.forgetsExpired ? State.DONE : State.EXPIRED);
        }
        Map<String, Object> answer = new HashMap<>();
        answer.put("batches", expired);
        answer.put("next_expiry_ms", kafka.nextExpiry());
        return answer;
    }

    private Map<String, Object> ending(String op) throws Exception {
        switch (op) {
            case "flush":
                kafka.call("beginFlush");
                return Map.of();
            case "flushed":
                if (!kafka.incomplete().isEmpty()) {
                    return Map.of();
                }
                kafka.call("awaitFlushCompletion");
                return Map.of("flushing", kafka.isFlushing());
            case "close":
                kafka.call("close");
                return Map.of();
            case "abort":
            case "abort_undrained":
                Method abort = kafka.aborting(op.equals("abort"));
                if (abort == null) {
                    return Map.of();
                }
                Set<Object> before = kafka.incomplete();
                kafka.abort(abort);
                kafka.codec.startAgain();
                before.removeAll(kafka.incomplete());
                for (Object batch : before) {
                    states.set(ids.get(batch), kafka.isInFlight(batch) ? State.ABORTED_IN_FLIGHT : State.DONE);
                }
                return Map.of("memory", kafka.memory());
            default:
                throw new IllegalArgumentException("an accumulator's script has no step " + op);
        }
    }

    private Map<String, Object> look() throws Exception {
        Map<String, Object> queues = new TreeMap<>();
        for (Map.Entry<TopicPartition, Deque<?>> entry : kafka.queues().entrySet()) {
            List<Object> queue = new ArrayList<>();
            for (Object batch : entry.getValue()) {
                queue.add(List.of(ids.get(batch), kafka.records(batch), kafka.size(batch)));
            }
            queues.put(entry.getKey().toString(), queue);
        }
        Set<Integer> incomplete = new TreeSet<>();
        for (Object batch : kafka.incomplete()) {
            incomplete.add(ids.get(batch));
        }
        Map<String, Object> answer = new HashMap<>(
            Map.of("queues", queues, "memory", kafka.memory(), "incomplete", incomplete, "undrained", kafka.hasUndrained()));
        if (kafka.producer != null) {
            answer.put("sequences", kafka.producer.look());
        }
        return answer;
    }
}
