package kafkaoracle.sender;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import kafkaoracle.accumulator.AccumulatorAccess;
import kafkaoracle.accumulator.BatchAccess;
import kafkaoracle.rule.Rule;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.protocol.Errors;

/**
 * What the scripts of a Sender share: the steps about brokers and time, and the answer to a round.
 *
 * Records are numbered in the order in which they were appended. A step about a request that is not in flight does nothing.
 */
public final class SenderScript {
    public static final String TOPIC = "t";

    /** The number of each record that ended in this step, and its offset or exception. */
    public final List<Object> ended = new ArrayList<>();

    private final AccumulatorAccess kafka;
    private final Deque<Map<String, Object>> ids = new ArrayDeque<>();
    private SenderNetwork network;
    private int idsGiven;
    private int records;

    public SenderScript(AccumulatorAccess kafka) {
        this.kafka = kafka;
    }

    public void use(SenderNetwork network) {
        this.network = network;
    }

    public int nextRecord() {
        return records++;
    }

    /** The response to a request for a producer id: what the question says, or the next number. */
    public Object identify(SenderNetwork.Sent sent) throws Exception {
        Map<String, Object> given = ids.isEmpty() ? Map.of("id", 1000 + idsGiven) : ids.poll();
        idsGiven++;
        Errors error = Errors.valueOf((String) given.getOrDefault("error", "NONE"));
        return Responses.producerId(error, Rule.number(given, "id", 7), (short) Rule.number(given, "epoch", 0));
    }

    /** A cluster of these leaders, by partition; null is a partition without one. */
    public static Map<String, Object> cluster(List<?> leaders) {
        List<Map<String, Object>> nodes = new ArrayList<>();
        List<Map<String, Object>> partitions = new ArrayList<>();
        for (Object leader : leaders) {
            Map<String, Object> partition = new HashMap<>(Map.of("id", partitions.size()));
            partition.put("leader", leader);
            partitions.add(partition);
            if (leader != null && nodes.stream().noneMatch(node -> node.get("id").equals(leader))) {
                nodes.add(Map.of("id", leader));
            }
        }
        return Map.of("nodes", nodes, "partitions", partitions);
    }

    /** Takes a step that is neither about records nor a round. */
    public Map<String, Object> take(String op, Map<String, Object> step) {
        switch (op) {
            case "respond":
                respond(step);
                return Map.of();
            case "disconnect":
                network.lose(String.valueOf(step.getOrDefault("node", 0)));
                return Map.of();
            case "advance":
                kafka.clock.now += Rule.number(step, "ms", 0);
                return Map.of();
            case "producer_id":
                ids.add(step);
                return Map.of();
            default:
                throw new IllegalArgumentException("a script of a Sender has no step " + op);
        }
    }

    /** The first partition gets {@code error}, and the others get {@code others}, or the same error without it. */
    private void respond(Map<String, Object> step) {
        Errors error = error(step.getOrDefault("error", "NONE"));
        Errors others = step.get("others") == null ? error : error(step.get("others"));
        if (error == null || others == null) {
            return;
        }
        network.answer(String.valueOf(step.getOrDefault("node", 0)), sent -> {
            Map<TopicPartition, Responses.Partition> partitions = new LinkedHashMap<>();
            for (TopicPartition topicPartition : ProduceRequests.batches(sent.request).keySet()) {
                Errors given = partitions.isEmpty() ? error : others;
                long baseOffset = given == Errors.NONE ? Rule.number(step, "base_offset", 0) : -1;
                long logStart = Rule.number(step, "log_start_offset", -1);
                partitions.put(topicPartition, new Responses.Partition(given, baseOffset, logStart));
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

    /** The answer to a round, which {@code round} takes; it returns what the round threw. */
    public Map<String, Object> run(Callable<Map<String, Object>> round) throws Exception {
        network.sent.clear();
        network.uncaught.clear();
        ended.clear();
        boolean isInError = isInError();
        Map<String, Object> thrown = round.call();
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

    /** The queues by partition, the time, and who the producer is. */
    public Map<String, Object> look() throws Exception {
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
        }
        return answer;
    }
}
