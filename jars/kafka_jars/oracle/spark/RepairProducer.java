package kafkaoracle.spark;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.spark.sql.Row;

/**
 * Writes one partition so that record i gets offset i. The acknowledged records are always the beginning of the plan without
 * a gap, so that another writer can continue wherever this one ended:
 *
 * <ul>
 *   <li>The producer is idempotent: a record that it sends again is not duplicated.
 *   <li>One request is in flight at a time. With more, a batch that is rejected for good would let those behind it through:
 *       Java's producer gives them the rejected batch's sequence numbers.
 *   <li>The producer itself never gives up ({@code delivery.timeout.ms}), for the same reason: after a batch that it gives
 *       up it sends the next. This class gives up, if nothing is acknowledged for {@code patienceMs}.
 *   <li>The first error, or the first offset that is not the planned one, closes the producer in its own thread, before it
 *       sends anything more.
 * </ul>
 */
final class RepairProducer implements AutoCloseable {
    private static final Duration NO_WAIT = Duration.ZERO;

    private final String topic;
    private final int partition;
    private final long patienceMs;
    private final KafkaProducer<byte[], byte[]> producer;
    private final Thread ending = new Thread(this::end);
    private final Object lock = new Object();
    private long next;
    private long acknowledged;
    private long acknowledgedMs = now();
    private long sentMs = acknowledgedMs;
    private IllegalStateException fault;

    RepairProducer(
            String topic, int partition, long next, Map<String, String> kafka, long patienceMs, long bufferBytes) {
        this.topic = topic;
        this.partition = partition;
        this.patienceMs = patienceMs;
        this.next = next;
        this.acknowledged = next;
        this.producer = new KafkaProducer<>(
                settings(kafka, patienceMs, bufferBytes), new ByteArraySerializer(), new ByteArraySerializer());
        Runtime.getRuntime().addShutdownHook(ending); // sends nothing more while the JVM ends
    }

    private static Map<String, Object> settings(Map<String, String> kafka, long patienceMs, long bufferBytes) {
        Map<String, Object> settings = new HashMap<>();
        settings.put("linger.ms", "20");
        settings.put("batch.size", Integer.toString(512 << 10));
        settings.put("compression.type", "lz4");
        settings.putAll(kafka);
        settings.put("acks", "all");
        settings.put("enable.idempotence", "true");
        settings.put("max.in.flight.requests.per.connection", "1");
        settings.put("retries", Integer.toString(Integer.MAX_VALUE));
        settings.put("delivery.timeout.ms", Integer.toString(Integer.MAX_VALUE));
        settings.put("max.block.ms", Long.toString(patienceMs));
        settings.put("max.request.size", Integer.toString(Integer.MAX_VALUE));
        settings.put("buffer.memory", Long.toString(bufferBytes));
        settings.remove("transactional.id");
        settings.remove("partitioner.class");
        settings.remove("interceptor.classes");
        return settings;
    }

    void send(Row row) {
        long offset = next++;
        List<Header> headers = row.isNullAt(7) ? null : headers(row.getList(7));
        var record = new ProducerRecord<byte[], byte[]>(
                topic, partition, row.getLong(4), row.getAs(5), row.getAs(6), headers);
        try {
            producer.send(record, (metadata, error) -> complete(offset, metadata, error));
        } catch (RuntimeException error) {
            fail("cannot be written at offset " + offset + ": " + describe(error)); // unless something has failed already
        }
        sentMs = now();
        raiseFault();
    }

    private static List<Header> headers(List<Row> rows) {
        List<Header> headers = new ArrayList<>(rows.size());
        for (Row row : rows) {
            headers.add(new RecordHeader(row.getString(0), row.<byte[]>getAs(1)));
        }
        return headers;
    }

    /** Called in the producer's own thread when the record that is planned for this offset is acknowledged or fails. */
    private void complete(long offset, RecordMetadata metadata, Exception error) {
        if (error != null) {
            fail("cannot be written at offset " + offset + ": " + describe(error));
        } else if (!metadata.hasOffset()) {
            fail("has the plan's record " + offset + " at an offset that the broker does not report: run the same command again");
        } else if (metadata.offset() != offset) {
            fail("has the plan's record " + offset + " at offset " + metadata.offset()
                    + ": another producer writes to it; delete the topic and start again, in another folder");
        } else {
            synchronized (lock) {
                acknowledged = offset + 1;
                acknowledgedMs = now();
                lock.notifyAll();
            }
        }
    }

    /** Waits until all is acknowledged. */
    void finish() throws InterruptedException {
        if (!acknowledgedInTime()) {
            fail("acknowledged nothing for " + patienceMs / 1000 + " s, with records in flight: run the same command again"
                    + " once the broker is back");
        }
        raiseFault();
    }

    private boolean acknowledgedInTime() throws InterruptedException {
        synchronized (lock) {
            acknowledgedMs = Math.max(acknowledgedMs, sentMs); // the last record may have been sent just now
            for (long left = 1; acknowledged < next && fault == null && left > 0; ) {
                left = acknowledgedMs + patienceMs - now();
                lock.wait(Math.max(1, left));
            }
            return acknowledged == next || fault != null;
        }
    }

    /** Keeps the first fault and closes the producer; the faults that follow from closing it are dropped. */
    private void fail(String what) {
        synchronized (lock) {
            if (fault != null) {
                return;
            }
            fault = new IllegalStateException("partition " + partition + " of " + topic + " " + what);
            lock.notifyAll();
        }
        producer.close(NO_WAIT);
    }

    private void raiseFault() {
        synchronized (lock) {
            if (fault != null) {
                throw fault;
            }
        }
    }

    private static String describe(Throwable error) {
        Throwable cause = error.getCause() == null ? error : error.getCause();
        return cause.getClass().getSimpleName() + ": " + cause.getMessage();
    }

    private static long now() {
        return System.nanoTime() / 1_000_000;
    }

    private void end() {
        producer.close(NO_WAIT);
    }

    @Override
    public void close() {
        end();
        try {
            Runtime.getRuntime().removeShutdownHook(ending);
        } catch (IllegalStateException ends) {
            return; // the JVM is running it
        }
    }
}
