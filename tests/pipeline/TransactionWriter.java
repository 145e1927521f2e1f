import java.io.StringReader;
import java.util.Properties;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;

/** Writes transactions with Java's producer, every third of which aborts. */
public class TransactionWriter {
    public static void write(String settings, String topic, Integer transactions, Integer records) throws Exception {
        Properties properties = new Properties();
        properties.load(new StringReader(settings));
        Thread thread = Thread.currentThread();
        ClassLoader before = thread.getContextClassLoader();
        thread.setContextClassLoader(KafkaProducer.class.getClassLoader());
        KafkaProducer producer = new KafkaProducer(properties);
        try {
            producer.initTransactions();
            for (int number = 0; number < transactions.intValue(); number++) {
                producer.beginTransaction();
                for (int record = 0; record < records.intValue(); record++) {
                    byte[] value = ("value " + number + " " + record).getBytes("UTF-8");
                    producer.send(new ProducerRecord(topic, Integer.valueOf(record % 2), value, value));
                }
                producer.flush();
                if (number % 3 == 0) {
                    producer.abortTransaction();
                } else {
                    producer.commitTransaction();
                }
            }
        } finally {
            producer.close();
            thread.setContextClassLoader(before);
        }
    }
}
