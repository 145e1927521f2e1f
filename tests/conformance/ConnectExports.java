import io.aiven.kafka.connect.common.config.CompressionType;
import io.aiven.kafka.connect.common.config.FormatType;
import io.aiven.kafka.connect.common.config.OutputField;
import io.aiven.kafka.connect.common.config.OutputFieldEncodingType;
import io.aiven.kafka.connect.common.config.OutputFieldType;
import io.aiven.kafka.connect.common.output.OutputWriter;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.json.JsonConverter;
import org.apache.kafka.connect.sink.SinkRecord;
import org.apache.kafka.connect.transforms.InsertField;

/**
 * Writes records as sinks of Kafka Connect do, a file for each partition: Kafka's own transform and converter, and the writers
 * that Aiven's object store sinks share. Arguments: a file with a line "PARTITION OFFSET KEY" for each record, and the folder.
 */
public final class ConnectExports {

    private static final List<OutputField> FIELDS = List.of(
        new OutputField(OutputFieldType.KEY, OutputFieldEncodingType.BASE64),
        new OutputField(OutputFieldType.OFFSET, OutputFieldEncodingType.NONE),
        new OutputField(OutputFieldType.TIMESTAMP, OutputFieldEncodingType.NONE));

    private ConnectExports() {
    }

    public static void main(String[] args) throws Exception {
        InsertField.Value<SinkRecord> transform = new InsertField.Value<>();
        transform.configure(Map.of("offset.field", "offset", "timestamp.field", "timestamp"));
        JsonConverter converter = new JsonConverter();
        converter.configure(Map.of("schemas.enable", "false"), false);
        Map<Integer, List<SinkRecord>> partitions = new TreeMap<>();
        for (String line : Files.readAllLines(Path.of(args[0]))) {
            SinkRecord record = record(line.split(" "));
            partitions.computeIfAbsent(record.kafkaPartition(), any -> new ArrayList<>()).add(record);
        }
        for (Map.Entry<Integer, List<SinkRecord>> partition : partitions.entrySet()) {
            String folder = "orders/partition=" + partition.getKey();
            StringBuilder lines = new StringBuilder();
            for (SinkRecord record : partition.getValue()) {
                SinkRecord written = transform.apply(record);
                byte[] json = converter.fromConnectData("orders", written.valueSchema(), written.value());
                lines.append(new String(json, StandardCharsets.UTF_8)).append('\n');
            }
            Files.writeString(file(args[1], "connect/" + folder, ".json"), lines);
            try (OutputStream out = Files.newOutputStream(file(args[1], "aiven/" + folder, ".jsonl"));
                 OutputWriter writer = OutputWriter.builder().withCompressionType(CompressionType.NONE)
                     .withExternalProperties(Map.of()).withOutputFields(FIELDS).build(out, FormatType.JSONL)) {
                writer.writeRecords(partition.getValue());
            }
        }
    }

    private static SinkRecord record(String[] words) {
        byte[] key = words[2].getBytes(StandardCharsets.UTF_8);
        return new SinkRecord("orders", Integer.parseInt(words[0]), Schema.BYTES_SCHEMA, key, null, Map.of("id", words[2]),
            Long.parseLong(words[1]), 1_700_000_000_000L, TimestampType.CREATE_TIME);
    }

    private static Path file(String root, String folder, String ending) throws Exception {
        Path made = Files.createDirectories(Path.of(root, folder));
        return made.resolve("orders-0" + ending);
    }
}
