package kafkaoracle.producer_sequences;

import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import kafkaoracle.accumulator.AccumulatorAccess;
import kafkaoracle.accumulator.RecordAppend;
import kafkaoracle.cluster.ClusterView;
import kafkaoracle.rule.DrawingScriptRule;
import kafkaoracle.sender.SenderAccess;
import kafkaoracle.sender.SenderNetwork;
import kafkaoracle.sender.SenderScript;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;

/**
 * Sender, with its accumulator and its transaction manager, step by step, before brokers whose answers the question holds.
 *
 * A run is one round of the sender's loop: it sends what is ready, then polls the network.
 */
public final class ProducerSequencesRule extends DrawingScriptRule {
    private final AccumulatorAccess kafka = new AccumulatorAccess();

    private ClusterView view;
    private SenderScript script;
    private SenderAccess sender;

    public ProducerSequencesRule(String release) throws ReflectiveOperationException {
    }

    @Override
    @SuppressWarnings("unchecked")
    protected void start(Map<String, Object> question) throws Exception {
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
        view = kafka.view(SenderScript.cluster((List<?>) question.get("leaders")), List.of(), Set.of(SenderScript.TOPIC));
        script = new SenderScript(kafka);
        SenderNetwork network = new SenderNetwork(
            kafka.clock, kafka.requestTimeoutMs, integer(config.get("max_in_flight")), script::identify);
        script.use(network);
        sender = new SenderAccess(kafka, view, network, config);
        Map<String, Object> producer = (Map<String, Object>) question.get("producer");
        if (producer != null && kafka.transactions != null) {
            script.take("producer_id", producer);
            sender.run(kafka.clock.now);
            network.check();
            Map<String, Object> sequences = new HashMap<>();
            ((Map<?, ?>) producer.getOrDefault("next_sequences", Map.of()))
                .forEach((partition, next) -> sequences.put(SenderScript.TOPIC + "-" + partition, next));
            kafka.transactions.begin(sequences);
        }
    }

    @Override
    protected Map<String, Object> take(String op, Map<String, Object> step) throws Exception {
        switch (op) {
            case "append":
                append(integer(step.get("partition")), (int) number(step, "records", 1), (int) number(step, "bytes", 10));
                return Map.of();
            case "run":
                return script.run(() -> outcome(() -> {
                    sender.run(kafka.clock.now);
                    return Map.of();
                }));
            case "flush":
                kafka.call("beginFlush");
                return Map.of();
            case "look":
                Map<String, Object> answer = script.look();
                if (kafka.transactions != null) {
                    answer.put("partitions", kafka.transactions.look(true));
                }
                return answer;
            default:
                return script.take(op, step);
        }
    }

    private void append(int partition, int count, int bytes) throws Exception {
        for (int i = 0; i < count; i++) {
            int number = script.nextRecord();
            byte[] value = ByteBuffer.allocate(Math.max(bytes, 4)).putInt(number).array();
            Object callback = RecordAppend.callback((metadata, exception) ->
                script.ended.add(List.of(number, exception == null
                    ? ((RecordMetadata) metadata).offset() : exception.getClass().getSimpleName())));
            kafka.append(new TopicPartition(SenderScript.TOPIC, partition), 0, null, value, List.of(), view, callback);
        }
    }
}
