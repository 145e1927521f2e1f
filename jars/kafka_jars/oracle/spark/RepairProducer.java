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
 * One writer of one partition in which record i is to get offset i. What was acknowledged is always the beginning of the
 * plan without a gap, so that another writer can go on where this one ended, however it ended:
 *
 * <ul>
 *   <li>The producer is idempotent: what it sends again is not doubled.
 *   <li>One request is under way at a time. With more, a batch that was refused for good would let the ones behind it
 *       through: Java's producer gives them the refused one's sequence numbers.
 *   <li>The producer itself never gives up ({@code delivery.timeout.ms}), for the same reason: after a batch it has given
 *       up it sends the next. This class does: if nothing is acknowledged for as long as it has patience.
 *   <li>The first thing that is wrong, an error or another offset than planned, closes the producer from within its own
 *       thread, before it sends anything more.
 * </ul>
 */
final class RepairProducer implements AutoCloseable {
    private static final Duration AT_ONCE = Duration.ZERO;

    private final String topic;
    private final int partition;
    private final long patienceMs;
    private final KafkaProducer<byte[], byte[]> producer;
    private final Thread ending = new Thread(this::end);
    private final Object lock = new Object();
    private long next;
    private long acknowledged;
    private long heardMs = now();
    private long sentMs = heardMs;
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
        Runtime.getRuntime().addShutdownHook(ending); // of a JVM that ends, nothing more is sent while it does
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
            producer.send(record, (metadata, error) -> heard(offset, metadata, error));
        } catch (RuntimeException error) {
            fail("cannot be written at offset " + offset + ": " + said(error)); // unless something has failed before
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

    /** In the producer's own thread: what became of the record that was to get this offset. */
    private void heard(long offset, RecordMetadata metadata, Exception error) {
        if (error != null) {
            fail("cannot be written at offset " + offset + ": " + said(error));
        } else if (!metadata.hasOffset()) {
            fail("has the plan's record " + offset + " at an offset the broker does not say: run the same command again");
        } else if (metadata.offset() != offset) {
            fail("has the plan's record " + offset + " at offset " + metadata.offset()
                    + ": somebody else writes to it; delete the topic and begin anew, in another folder");
        } else {
            synchronized (lock) {
                acknowledged = offset + 1;
                heardMs = now();
                lock.notifyAll();
            }
        }
    }

    /** Waits until all is acknowledged. */
    void finish() throws InterruptedException {
        if (!acknowledgedInTime()) {
            fail("was not heard of for " + patienceMs / 1000 + " s, with records under way: run the same command again"
                    + " once the broker is back");
        }
        raiseFault();
    }

    private boolean acknowledgedInTime() throws InterruptedException {
        synchronized (lock) {
            heardMs = Math.max(heardMs, sentMs); // the last of it may have been sent just now
            for (long left = 1; acknowledged < next && fault == null && left > 0; ) {
                left = heardMs + patienceMs - now();
                lock.wait(Math.max(1, left));
            }
            return acknowledged == next || fault != null;
        }
    }

    /** The first fault counts, and closes the producer; those that come of closing it do not. */
    private void fail(String what) {
        synchronized (lock) {
            if (fault != null) {
                return;
            }
            fault = new IllegalStateException("partition " + partition + " of " + topic + " " + what);
            lock.notifyAll();
        }
        producer.close(AT_ONCE);
    }

    private void raiseFault() {
        synchronized (lock) {
            if (fault != null) {
                throw fault;
            }
        }
    }

    private static String said(Throwable error) {
        Throwable cause = error.getCause() == null ? error : error.getCause();
        return cause.getClass().getSimpleName() + ": " + cause.getMessage();
    }

    private static long now() {
        return System.nanoTime() / 1_000_000;
    }

    private void end() {
        producer.close(AT_ONCE);
    }

    @Override
    public void close() {
        end();
        try {
            Runtime.getRuntime().removeShutdownHook(ending);
        } catch (IllegalStateException ends) {
            return; // the JVM is at it
        }
    }
}
