import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.StringReader;
import java.util.Properties;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;

/**
 * Java's own producer, told by a file of records, telling in another where each of them came to lie. Compiled by Janino, which
 * is in Spark's JVM: no generics, no lambdas.
 *
 * A record: key, value (a length of four bytes, -1 for null, and the bytes), timestamp of eight bytes, partition of four
 * (-1 for none). A result: partition of four bytes, offset of eight.
 */
public class TopicWriter {
    public static void write(String settings, final String topic, final int count, String records, String results)
            throws Exception {
        Properties properties = new Properties();
        properties.load(new StringReader(settings));
        Thread.currentThread().setContextClassLoader(KafkaProducer.class.getClassLoader());
        final int[] partitions = new int[count];
        final long[] offsets = new long[count];
        final Exception[] failed = new Exception[1];
        KafkaProducer producer = new KafkaProducer(properties);
        try {
            DataInputStream in = new DataInputStream(new BufferedInputStream(new FileInputStream(records), 1 << 20));
            try {
                for (int at = 0; at < count; at++) {
                    final int index = at;
                    byte[] key = bytes(in);
                    byte[] value = bytes(in);
                    long timestamp = in.readLong();
                    int partition = in.readInt();
                    ProducerRecord record = new ProducerRecord(
                            topic,
                            partition < 0 ? null : Integer.valueOf(partition),
                            timestamp < 0 ? null : Long.valueOf(timestamp),
                            key,
                            value);
                    producer.send(record, new Callback() {
                        public void onCompletion(RecordMetadata metadata, Exception error) {
                            if (error != null) {
                                failed[0] = error;
                            } else {
                                partitions[index] = metadata.partition();
                                offsets[index] = metadata.offset();
                            }
                        }
                    });
                }
            } finally {
                in.close();
            }
        } finally {
            producer.close();
        }
        if (failed[0] != null) {
            throw failed[0];
        }
        DataOutputStream out = new DataOutputStream(new BufferedOutputStream(new FileOutputStream(results), 1 << 20));
        try {
            for (int at = 0; at < count; at++) {
                out.writeInt(partitions[at]);
                out.writeLong(offsets[at]);
            }
        } finally {
            out.close();
        }
    }

    private static byte[] bytes(DataInputStream in) throws IOException {
        int length = in.readInt();
        if (length < 0) {
            return null;
        }
        byte[] read = new byte[length];
        in.readFully(read);
        return read;
    }
}
