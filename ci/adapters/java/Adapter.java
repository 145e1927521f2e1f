import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.FileWriter;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.*;
import org.apache.kafka.clients.consumer.*;
import org.apache.kafka.clients.producer.*;

/** Adapter of the gate of clients for Java's own producer and consumer. */
public final class Adapter {
    static final String TEXT = "org.apache.kafka.common.serialization.String";

    public static void main(String[] words) throws Exception {
        Map<String, String> env = System.getenv();
        ObjectMapper json = new ObjectMapper();
        PrintWriter results = new PrintWriter(new FileWriter(env.get("RESULTS")), true);
        int timeoutMs = Integer.parseInt(env.get("TIMEOUT_MS")), delivered = 0;
        Producer<String, String> producer = null;
        for (String text : Files.readAllLines(Path.of(env.get("WORKLOAD")))) {
            var line = json.readTree(text);
            Map<String, Object> settings = new HashMap<>(Map.of("bootstrap.servers", env.get("BOOTSTRAP"), "client.id", env.get("CLIENT_ID")));
            if (line.has("consume")) {
                settings.putAll(Map.of("group.id", env.get("GROUP"), "auto.offset.reset", "earliest", "enable.auto.commit", "false",
                    "isolation.level", env.get("ISOLATION"), "session.timeout.ms", env.get("SESSION_MS"),
                    "key.deserializer", TEXT + "Deserializer", "value.deserializer", TEXT + "Deserializer"));
                try (var consumer = new KafkaConsumer<String, String>(settings)) {
                    consumer.subscribe(List.of(env.get("TOPIC")));
                    for (; delivered < line.get("consume").asInt(); consumer.commitSync())
                        for (var one : consumer.poll(Duration.ofMillis(500))) {
                            delivered++;
                            results.println(json.writeValueAsString(Map.of("partition", one.partition(), "offset", one.offset(), "value", one.value())));
                        }
                }
                continue;
            }
            settings.putAll(Map.of("acks", env.get("ACKS"), "enable.idempotence", env.get("IDEMPOTENCE"), "batch.size", env.get("BATCH_SIZE"),
                "linger.ms", env.get("LINGER_MS"), "compression.type", env.get("COMPRESSION"), "delivery.timeout.ms", timeoutMs,
                "request.timeout.ms", timeoutMs / 2, "key.serializer", TEXT + "Serializer", "value.serializer", TEXT + "Serializer"));
            settings.put("max.in.flight.requests.per.connection", env.get("IN_FLIGHT"));
            if (producer == null) producer = new KafkaProducer<>(settings);
            if (line.has("flush")) { producer.flush(); continue; }
            int number = line.get("send").asInt();
            producer.send(new ProducerRecord<>(env.get("TOPIC"), line.has("partition") ? line.get("partition").asInt() : null, line.get("key").textValue(), line.get("value").asText()), (done, error) -> {
                try {
                    results.println(json.writeValueAsString(error != null ? Map.of("record", number, "error", error.toString())
                        : Map.of("record", number, "partition", done.partition(), "offset", done.offset())));
                } catch (IOException impossible) { throw new AssertionError(impossible); }
            });
        }
        if (producer != null) producer.close();
    }
}
