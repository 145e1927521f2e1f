package kafkaoracle.producer_sequences;

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
import kafkaoracle.accumulator.BatchAccess;
import kafkaoracle.accumulator.RecordAppend;
import kafkaoracle.cluster.ClusterView;
import kafkaoracle.rule.DrawingScriptRule;
import kafkaoracle.sender.ProduceRequests;
import kafkaoracle.sender.Responses;
import kafkaoracle.sender.SenderAccess;
import kafkaoracle.sender.SenderNetwork;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.protocol.Errors;

/**
 * Sender, with its accumulator and its transaction manager, step by step, before brokers whose answers the question holds.
 *
 * A run is one round of the sender's loop: it sends what is ready, then polls the network. Records are numbered in the
 * order in which they were appended, requests in the order in which they were sent. A step about a request that is not in
 * flight does nothing, and is answered by {}.
 */
public final class ProducerSequencesRule extends DrawingScriptRule {
    private static final String TOPIC = "t";

    private final AccumulatorAccess kafka = new AccumulatorAccess();

    private ClusterView view;
    private SenderNetwork network;
    private SenderAccess sender;
    private Deque<Map<String, Object>> ids;
    private int idsGiven;
    private int records;
    private List<Object> ended;

    public ProducerSequencesRule(String release) throws ReflectiveOperationException {
    }

    @Override
    @SuppressWarnings("unchecked")
    protected void start(Map<String, Object> question) throws Exception {
        ids = new ArrayDeque<>();
        idsGiven = 0;
        records = 0;
        ended = new ArrayList<>();
        Map<String, Object> config = (Map<String, Object>) question.get("config");
        Map<String, Object> accumulator = new HashMap<>(config);
        accumulator.put("buffer_memory", 1L << 30);
        accumulator.put("adaptive", false);
        accumulator.put("availability_timeout_ms", 0);
        if ((Boolean) config.get("idempotence")) {
            accumulator.put("producer", Map.of("retry_backoff_ms", config.get("retry_backoff_ms")));
        }
        kafka.begin(accumulator);
        kafka.requestTimeoutMs = integer(config.get("request_timeout_ms"));
        view = kafka.view(cluster((List<?>) question.get("leaders")), List.of(), Set.of(TOPIC));
        network = new SenderNetwork(kafka.clock, kafka.requestTimeoutMs, integer(config.get("max_in_flight")), this::identify);
        sender = new SenderAccess(kafka, view, network, config);
        Map<String, Object> producer = (Map<String, Object>) question.get("producer");
        if (producer != null && kafka.transactions != null) {
            ids.add(producer);
            sender.run(kafka.clock.now);
            network.check();
            Map<String, Object> sequences = new HashMap<>();
            ((Map<?, ?>) producer.getOrDefault("next_sequences", Map.of()))
                .forEach((partition, next) -> sequences.put(TOPIC + "-" + partition, next));
            kafka.transactions.begin(sequences);
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

    /** The response to a request for a producer id: what the question says, or the next number. */
    private Object identify(SenderNetwork.Sent sent) throws Exception {
        Map<String, Object> given = ids.isEmpty() ? Map.of("id", 1000 + idsGiven) : ids.poll();
        idsGiven++;
        Errors error = Errors.valueOf((String) given.getOrDefault("error", "NONE"));
        return Responses.producerId(error, number(given, "id", 7), (short) number(given, "epoch", 0));
    }

    @Override
    protected Map<String, Object> take(String op, Map<String, Object> step) throws Exception {
        switch (op) {
            case "append":
                append(integer(step.get("partition")), (int) number(step, "records", 1), (int) number(step, "bytes", 10));
                return Map.of();
            case "run":
                return run();
            case "respond":
                respond(step);
                return Map.of();
            case "disconnect":
                network.lose(String.valueOf(step.getOrDefault("node", 0)));
                return Map.of();
            case "advance":
                kafka.clock.now += number(step, "ms", 0);
                return Map.of();
            case "producer_id":
                ids.add(step);
                return Map.of();
            case "flush":
                kafka.call("beginFlush");
                return Map.of();
            case "look":
                return look();
            default:
                throw new IllegalArgumentException("a script of ProducerSequencesRule has no step " + op);
        }
    }

    private void append(int partition, int count, int bytes) throws Exception {
        for (int i = 0; i < count; i++) {
            int number = records++;
            byte[] value = ByteBuffer.allocate(Math.max(bytes, 4)).putInt(number).array();
            Object callback = RecordAppend.callback((metadata, exception) ->
                ended.add(List.of(number, exception == null
                    ? ((RecordMetadata) metadata).offset() : exception.getClass().getSimpleName())));
            kafka.append(new TopicPartition(TOPIC, partition), 0, null, value, List.of(), view, callback);
        }
    }

    private Map<String, Object> run() throws Exception {
        network.sent.clear();
        network.uncaught.clear();
        ended.clear();
        boolean isInError = isInError();
        Map<String, Object> thrown = outcome(() -> {
            sender.run(kafka.clock.now);
            return Map.of();
        });
        network.check();
        List<Object> requests = new ArrayList<>();
        int askedForId = 0;
        for (SenderNetwork.Sent sent : network.sent) {
            if (sent.node.equals(SenderNetwork.COORDINATOR.idString())) {
                askedForId++;
            } else {
                requests.add(Map.of("node", Integer.parseInt(sent.node), "batches", sent.described));
            }
        }
        Map<String, Object> answer = new HashMap<>();
        answer.put("sent", requests);
        if (isInError || isInError()) { // aborted batches come out of a set that orders by identity
            ended.sort(Comparator.comparing(each -> (Integer) ((List<?>) each).get(0)));
        }
        answer.put("ended", new ArrayList<>(ended));
        if (askedForId > 0) {
            answer.put("asked_id", askedForId);
        }
        if (thrown.containsKey("raises")) {
            answer.put("raises", thrown.get("raises"));
        }
        if (!network.uncaught.isEmpty()) {
            answer.put("uncaught", new ArrayList<>(network.uncaught));
        }
        return answer;
    }

    private boolean isInError() throws Exception {
        return kafka.transactions != null && kafka.transactions.state().endsWith("_ERROR");
    }

    /** The first partition gets {@code error}, and the others get {@code others}, or the same error without it. */
    private void respond(Map<String, Object> step) throws Exception {
        Errors error = error(step.getOrDefault("error", "NONE"));
        Errors others = step.get("others") == null ? error : error(step.get("others"));
        if (error == null || others == null) {
            return;
        }
        network.answer(String.valueOf(step.getOrDefault("node", 0)), sent -> {
            Map<TopicPartition, Responses.Partition> partitions = new LinkedHashMap<>();
            for (TopicPartition topicPartition : ProduceRequests.batches(sent.request).keySet()) {
                Errors given = partitions.isEmpty() ? error : others;
                long baseOffset = given == Errors.NONE ? number(step, "base_offset", 0) : -1;
                partitions.put(topicPartition, new Responses.Partition(given, baseOffset, number(step, "log_start_offset", -1)));
            }
            return Responses.produce(TOPIC, partitions);
        });
    }

    /** The error of this name, or null if this release has none; up to 2.5 NOT_LEADER_OR_FOLLOWER has another name. */
    private static Errors error(Object name) {
        for (Errors each : Errors.values()) {
            boolean isRenamed = name.equals("NOT_LEADER_OR_FOLLOWER") && each.name().equals("NOT_LEADER_FOR_PARTITION");
            if (each.name().equals(name) || isRenamed) {
                return each;
            }
        }
        return null;
    }

    private Map<String, Object> look() throws Exception {
        Map<String, Object> queues = new TreeMap<>();
        for (Map.Entry<TopicPartition, Deque<?>> entry : kafka.queues().entrySet()) {
            List<Object> queue = new ArrayList<>();
            for (Object batch : entry.getValue()) {
                queue.add(List.of(BatchAccess.recordCount(batch),
                    BatchAccess.part(batch, "attempts"), BatchAccess.part(batch, "baseSequence")));
            }
            queues.put(String.valueOf(entry.getKey().partition()), queue);
        }
        Map<String, Object> answer = new HashMap<>();
        answer.put("queues", queues);
        answer.put("now_ms", kafka.clock.now);
        if (kafka.transactions != null) {
            answer.put("producer", kafka.transactions.identity());
            answer.put("state", kafka.transactions.state());
            answer.put("partitions", kafka.transactions.look(true));
        }
        return answer;
    }
}
