package kafkaoracle.producer_sequences;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import kafkaoracle.accumulator.AccumulatorAccess;
import kafkaoracle.rule.Draws;
import kafkaoracle.rule.Rule;
import kafkaoracle.sender.SenderAccess;
import kafkaoracle.sender.SenderNetwork;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.protocol.Errors;

/**
 * Sender, with its accumulator and its transaction manager, step by step, before brokers that the question plays.
 *
 * A run is one round of the sender's loop: it sends what is ready, then polls the network. Records are numbered in the
 * order in which they were appended, requests in the order in which they were sent. A step that is about no request that
 * is in flight does nothing, and is answered by {}.
 */
public final class ProducerSequencesRule extends Rule {
    private static final Set<String> TOPICS = Set.of("t");

    private final AccumulatorAccess kafka = new AccumulatorAccess();
    private final Rule step = new Rule() {
        @Override
        protected Map<String, Object> answer(Map<String, Object> asked) throws Exception {
            return take((String) asked.get("op"), asked);
        }
    };

    private List<?> draws;
    private int drawn;
    private AccumulatorAccess.View view;
    private SenderNetwork network;
    private SenderAccess sender;
    private Deque<Map<String, Object>> ids;
    private int idsGiven;
    private int records;
    private List<Object> ended;

    public ProducerSequencesRule(String release) {
    }

    @Override
    @SuppressWarnings("unchecked")
    protected Map<String, Object> answer(Map<String, Object> question) throws Exception {
        draws = (List<?>) question.get("draws");
        drawn = 0;
        begin((Map<String, Object>) question.get("config"), (List<?>) question.get("leaders"), (Map<String, Object>) question.get("producer"));
        List<Object> answers = new ArrayList<>();
        for (Map<String, Object> asked : (List<Map<String, Object>>) question.get("steps")) {
            Draws.next(drawn < draws.size() ? integer(draws.get(drawn)) : 0);
            Map<String, Object> answered = step.apply(asked);
            if (Draws.used() > 0 && ++drawn > draws.size()) {
                throw new IllegalStateException("the question holds " + draws.size() + " draws and Kafka took one more: add draws to it");
            }
            // Texts name ids and times that the answers show anyway, and were reworded often.
            boolean raises = answered.containsKey("raises") && !answered.containsKey("sent");
            answers.add(raises ? Map.of("raises", answered.get("raises")) : answered);
        }
        return Map.of("steps", answers);
    }

    private void begin(Map<String, Object> config, List<?> leaders, Map<String, Object> producer) throws Exception {
        ids = new ArrayDeque<>();
        idsGiven = 0;
        records = 0;
        ended = new ArrayList<>();
        Map<String, Object> accumulator = new HashMap<>(config);
        accumulator.put("buffer_memory", 1L << 30);
        accumulator.put("adaptive", false);
        accumulator.put("availability_timeout_ms", 0);
        if ((Boolean) config.get("idempotence")) {
            accumulator.put("producer", Map.of("retry_backoff_ms", config.get("retry_backoff_ms")));
        }
        kafka.begin(accumulator);
        kafka.requestTimeout = integer(config.get("request_timeout_ms"));
        view = kafka.view(cluster(leaders), List.of(), TOPICS);
        network = new SenderNetwork(kafka, integer(config.get("max_in_flight")), this::identify);
        sender = new SenderAccess(kafka, view, network, config);
        if (producer != null && kafka.producer != null) {
            ids.add(producer);
            sender.run(kafka.now);
            network.check();
            Map<String, Object> sequences = new HashMap<>();
            Map<?, ?> asked = (Map<?, ?>) producer.getOrDefault("next_sequences", Map.of());
            asked.forEach((partition, next) -> sequences.put("t-" + partition, next));
            kafka.producer.begin(sequences, kafka.producer.current());
        }
        network.sent.clear();
    }

    private static Map<String, Object> cluster(List<?> leaders) {
        List<Map<String, Object>> nodes = new ArrayList<>();
        List<Map<String, Object>> partitions = new ArrayList<>();
        for (Object leader : leaders) {
            partitions.add(Map.of("id", partitions.size(), "leader", leader));
            if (nodes.stream().noneMatch(node -> node.get("id").equals(leader))) {
                nodes.add(Map.of("id", leader));
            }
        }
        return Map.of("nodes", nodes, "partitions", partitions);
    }

    /** Who the producer is: what the question says, or the next number. */
    private Object identify(SenderNetwork.Sent sent) throws Exception {
        Map<String, Object> given = ids.poll();
        if (given == null) {
            given = Map.of("id", 1000 + idsGiven, "epoch", 0);
        }
        idsGiven++;
        Errors error = Errors.valueOf((String) given.getOrDefault("error", "NONE"));
        return SenderAccess.idResponse(error, ((Number) given.getOrDefault("id", 7)).longValue(), ((Number) given.getOrDefault("epoch", 0)).shortValue());
    }

    private Map<String, Object> take(String op, Map<String, Object> asked) throws Exception {
        switch (op) {
            case "append":
                append(integer(asked.get("partition")), integer(asked.getOrDefault("records", 1)), integer(asked.getOrDefault("bytes", 10)));
                return Map.of();
            case "run":
                return run();
            case "respond":
                if (error(asked.getOrDefault("error", "NONE")) == null || (asked.get("others") != null && error(asked.get("others")) == null)) {
                    return Map.of();
                }
                network.answer(String.valueOf(asked.getOrDefault("node", 0)), sent -> respond(asked, SenderAccess.batches(sent.request)));
                return Map.of();
            case "disconnect":
                network.lose(String.valueOf(asked.getOrDefault("node", 0)));
                return Map.of();
            case "advance":
                kafka.now += ((Number) asked.get("ms")).longValue();
                return Map.of();
            case "producer_id":
                ids.add(asked);
                return Map.of();
            case "flush":
                kafka.call("beginFlush");
                return Map.of();
            case "look":
                return look();
            default:
                throw new IllegalArgumentException("a sender's script has no step " + op);
        }
    }

    private void append(int partition, int count, int bytes) throws Exception {
        for (int at = 0; at < count; at++) {
            int number = records++;
            byte[] value = ByteBuffer.allocate(Math.max(bytes, 4)).putInt(number).array();
            Object told = kafka.told((metadata, exception) ->
                ended.add(List.of(number, exception == null ? ((RecordMetadata) metadata).offset() : exception.getClass().getSimpleName())));
            kafka.append("t", partition, 0, null, value, List.of(), view, told);
        }
    }

    private Map<String, Object> run() throws Exception {
        Map<String, Object> answer = new HashMap<>();
        network.sent.clear();
        network.uncaught.clear();
        ended.clear();
        boolean isInError = isInError();
        Map<String, Object> raised = RUN.apply(Map.of("run", this));
        network.check();
        List<Object> requests = new ArrayList<>();
        int asked = 0;
        for (SenderNetwork.Sent one : network.sent) {
            if (one.node.equals(SenderNetwork.COORDINATOR.idString())) {
                asked++;
            } else {
                requests.add(Map.of("node", Integer.parseInt(one.node), "batches", one.described));
            }
        }
        answer.put("sent", requests);
        if (isInError || isInError()) { // aborted batches come out of a set that goes by identity
            ended.sort(Comparator.comparing(one -> (Integer) ((List<?>) one).get(0)));
        }
        answer.put("ended", new ArrayList<>(ended));
        if (asked > 0) {
            answer.put("asked_id", asked);
        }
        if (raised.containsKey("raises")) {
            answer.put("raises", raised.get("raises"));
        }
        if (!network.uncaught.isEmpty()) {
            answer.put("uncaught", new ArrayList<>(network.uncaught));
        }
        return answer;
    }

    private boolean isInError() throws Exception {
        return kafka.producer != null && kafka.producer.state().toString().endsWith("_ERROR");
    }

    private static final Rule RUN = new Rule() {
        @Override
        protected Map<String, Object> answer(Map<String, Object> asked) throws Exception {
            ProducerSequencesRule of = (ProducerSequencesRule) asked.get("run");
            of.sender.run(of.kafka.now);
            return Map.of();
        }
    };

    /** The first partition gets the error asked for, and the others another one, if there is another. */
    private Object respond(Map<String, Object> asked, Map<TopicPartition, Object> batches) throws Exception {
        Map<TopicPartition, Object[]> answers = new LinkedHashMap<>();
        for (TopicPartition of : batches.keySet()) {
            Object error = answers.isEmpty() || asked.get("others") == null ? asked.getOrDefault("error", "NONE") : asked.get("others");
            boolean fine = error.equals("NONE");
            answers.put(of, new Object[] {error(error),
                fine ? ((Number) asked.getOrDefault("base_offset", 0)).longValue() : -1L,
                ((Number) asked.getOrDefault("log_start_offset", -1)).longValue()});
        }
        return SenderAccess.produceResponse(answers);
    }

    /** The error of this name, or null if this release has none; to 2.5 one of them was named after a partition. */
    private static Errors error(Object name) {
        for (Errors each : Errors.values()) {
            boolean renamed = name.equals("NOT_LEADER_OR_FOLLOWER") && each.name().equals("NOT_LEADER_FOR_PARTITION");
            if (each.name().equals(name) || renamed) {
                return each;
            }
        }
        return null;
    }

    /** What a batch says of itself; 0.10 has fields for it, and no sequences. */
    private static Object part(Object batch, String name) throws Exception {
        Method method = AccumulatorAccess.declared(batch.getClass(), name);
        if (method != null) {
            return method.invoke(batch);
        }
        Field field = AccumulatorAccess.field(batch.getClass(), name);
        return field == null ? -1 : field.get(batch);
    }

    private Map<String, Object> look() throws Exception {
        Map<String, Object> answer = new HashMap<>();
        Map<String, Object> queues = new TreeMap<>();
        for (Map.Entry<TopicPartition, Deque<?>> entry : kafka.queues().entrySet()) {
            List<Object> queue = new ArrayList<>();
            for (Object batch : entry.getValue()) {
                queue.add(List.of(kafka.records(batch), part(batch, "attempts"), part(batch, "baseSequence")));
            }
            queues.put(String.valueOf(entry.getKey().partition()), queue);
        }
        answer.put("queues", queues);
        answer.put("now_ms", kafka.now);
        if (kafka.producer != null) {
            answer.put("producer", kafka.producer.identity());
            answer.put("state", kafka.producer.state());
            answer.put("partitions", kafka.producer.look(true));
        }
        return answer;
    }
}
