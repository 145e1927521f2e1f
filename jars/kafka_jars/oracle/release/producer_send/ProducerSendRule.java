package kafkaoracle.producer_send;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import kafkaoracle.accumulator.AccumulatorAccess;
import kafkaoracle.accumulator.BatchAccess;
import kafkaoracle.cluster.ClusterView;
import kafkaoracle.partitioner.RoundRobinCounter;
import kafkaoracle.reflection.Members;
import kafkaoracle.rule.QuestionDraws;
import kafkaoracle.rule.ScriptRule;
import kafkaoracle.sender.SenderScript;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;

/**
 * KafkaProducer.send and flush, and the rounds of its Sender, before brokers whose answers the question holds: Kafka itself
 * puts partitioner, accumulator, sender and transaction manager together.
 */
public final class ProducerSendRule extends ScriptRule {
    private static final Map<String, String> PARTITIONERS = Map.of(
        "default", "org.apache.kafka.clients.producer.internals.DefaultPartitioner",
        "uniform-sticky", "org.apache.kafka.clients.producer.UniformStickyPartitioner",
        "round-robin", "org.apache.kafka.clients.producer.RoundRobinPartitioner");
    private static final Map<String, String> SETTINGS = new LinkedHashMap<>(Map.of(
        "idempotence", "enable.idempotence",
        "max_in_flight", "max.in.flight.requests.per.connection",
        "ignore_keys", "partitioner.ignore.keys",
        "adaptive", "partitioner.adaptive.partitioning.enable",
        "availability_timeout_ms", "partitioner.availability.timeout.ms"));

    static {
        for (String name : List.of("acks", "retries", "batch_size", "linger_ms", "buffer_memory", "max_request_size",
            "request_timeout_ms", "delivery_timeout_ms", "retry_backoff_ms", "retry_backoff_max_ms")) {
            SETTINGS.put(name, name.replace('_', '.'));
        }
    }

    private final boolean startsCounters;
    private AccumulatorAccess kafka;
    private SteppedProducer stepped;
    private SenderScript script;
    private List<FlushCall> flushes;
    private QuestionDraws draws;
    private boolean hasDraws;

    public ProducerSendRule(String release) {
        startsCounters = RoundRobinCounter.isUsedBy(release);
    }

    @Override
    @SuppressWarnings("unchecked")
    protected void begin(Map<String, Object> question) throws Exception {
        Map<String, Object> config = (Map<String, Object>) question.get("config");
        List<?> given = (List<?>) question.get("draws");
        draws = new QuestionDraws(given);
        hasDraws = !given.isEmpty();
        flushes = new ArrayList<>();
        stepped = null;
        kafka = new AccumulatorAccess();
        kafka.requestTimeoutMs = (int) number(config, "request_timeout_ms", 30_000);
        script = new SenderScript(kafka);
        stepped = new SteppedProducer(settings(config), kafka, this::endFlushes);
        ClusterView view = kafka.view(SenderScript.cluster((List<?>) question.get("leaders")), List.of(), Set.of(SenderScript.TOPIC));
        script.use(stepped.connect(kafka, view, script::identify));
        if (startsCounters && hasDraws) {
            Object partitioner = Members.get(stepped.producer, "partitioner");
            new RoundRobinCounter(partitioner.getClass()).set(partitioner, SenderScript.TOPIC, integer(given.get(0)));
        }
    }

    /** The user's settings by Kafka's names; a partitioner that the release does not have is a ClassNotFoundException. */
    private static Map<String, Object> settings(Map<String, Object> config) throws ClassNotFoundException {
        Map<String, Object> settings = new HashMap<>();
        settings.put("client.id", "oracle");
        SETTINGS.forEach((name, kafkas) -> {
            if (config.get(name) != null) {
                settings.put(kafkas, config.get(name).toString());
            }
        });
        if (config.get("partitioner") != null) {
            settings.put("partitioner.class", Class.forName(PARTITIONERS.get((String) config.get("partitioner"))).getName());
        }
        return settings;
    }

    @Override
    protected void end() {
        try {
            flushes.forEach(FlushCall::interrupt);
            if (stepped != null) {
                stepped.close();
            }
        } catch (ReflectiveOperationException changed) {
            throw new IllegalStateException("KafkaProducer.close failed", changed);
        }
    }

    @Override
    protected Map<String, Object> answerStep(Map<String, Object> step) {
        draws.offer();
        Map<String, Object> answer = super.answerStep(step);
        endFlushes();
        draws.settle(Long.MAX_VALUE);
        return withoutMessage(answer);
    }

    @Override
    protected Map<String, Object> take(String op, Map<String, Object> step) throws Exception {
        switch (op) {
            case "send":
                return send(step);
            case "run":
                return script.run(() -> outcome(() -> {
                    stepped.run(kafka.clock.now);
                    return Map.of();
                }));
            case "flush":
                flushes.add(new FlushCall(stepped.producer, kafka.incomplete()));
                return Map.of();
            case "look":
                Map<String, Object> answer = script.look();
                answer.put("memory", kafka.memory());
                answer.put("flushes", flushes.size());
                return answer;
            default:
                return script.take(op, step);
        }
    }

    private Map<String, Object> send(Map<String, Object> step) throws Exception {
        Integer partition = step.get("partition") == null ? null : integer(step.get("partition"));
        Long timestamp = step.get("timestamp") == null ? null : number(step, "timestamp", 0);
        byte[] key = bytes(step.get("key"));
        if (startsCounters && !hasDraws && partition == null && key == null) {
            throw QuestionDraws.tooFew(0, 1);
        }
        script.ended.clear();
        stepped.wakeups = 0;
        List<Object> placements = new ArrayList<>();
        for (long count = number(step, "records", 1); count > 0; count--) {
            int number = script.nextRecord();
            byte[] value = ByteBuffer.allocate((int) number(step, "bytes", 10)).putInt(number).array();
            placements.add(place(new ProducerRecord<>(SenderScript.TOPIC, partition, timestamp, key, value), (metadata, exception) ->
                script.ended.add(List.of(number, exception == null ? metadata.offset() : exception.getClass().getSimpleName()))));
        }
        Map<String, Object> answer = new HashMap<>(Map.of("partitions", placements, "wakeups", stepped.wakeups));
        if (!script.ended.isEmpty()) {
            answer.put("ended", new ArrayList<>(script.ended));
        }
        return answer;
    }

    /** The partition of the record; if something was thrown, or returned with the future, that too. */
    private Object place(ProducerRecord<byte[], byte[]> record, Callback callback) throws Exception {
        Map<Integer, Integer> before = recordCounts();
        Map<String, Object> failure = new HashMap<>();
        try {
            Future<?> future = stepped.producer.send(record, callback);
            if (future.getClass().getSimpleName().equals("FutureFailure")) {
                future.get();
            }
        } catch (ExecutionException returned) {
            failure.put("returns", returned.getCause().getClass().getSimpleName());
        } catch (RuntimeException thrown) {
            failure.put("throws", thrown.getClass().getSimpleName());
        }
        Integer partition = null;
        for (Map.Entry<Integer, Integer> after : recordCounts().entrySet()) {
            if (!after.getValue().equals(before.getOrDefault(after.getKey(), 0))) {
                partition = after.getKey();
            }
        }
        if (failure.isEmpty()) {
            return partition;
        }
        failure.put("partition", partition);
        return failure;
    }

    private Map<Integer, Integer> recordCounts() throws Exception {
        Map<Integer, Integer> found = new HashMap<>();
        for (Map.Entry<TopicPartition, Deque<?>> queue : kafka.queues().entrySet()) {
            int count = 0;
            for (Object batch : queue.getValue()) {
                count += BatchAccess.recordCount(batch);
            }
            found.put(queue.getKey().partition(), count);
        }
        return found;
    }

    /** Waits until the calls of flush that are over have returned: otherwise the time of their return would be random. */
    private void endFlushes() {
        try {
            for (FlushCall flush : List.copyOf(flushes)) {
                if (flush.isOver()) {
                    flush.join();
                    flushes.remove(flush);
                }
            }
        } catch (ReflectiveOperationException changed) {
            throw new IllegalStateException("a batch does not tell whether it is complete", changed);
        }
    }
}
