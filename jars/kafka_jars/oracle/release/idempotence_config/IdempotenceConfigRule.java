package kafkaoracle.idempotence_config;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import kafkaoracle.reflection.Members;
import kafkaoracle.rule.ProducerClose;
import kafkaoracle.rule.Rule;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * A real KafkaProducer for each question, offline, and its effective settings: read from the objects that act by them (the
 * Sender, its network client, the TransactionManager), not from the configuration, which does not always match.
 *
 * The producer is closed at once, which ends its thread, its selector and its beans, with two exceptions. Up to 2.1.0 the
 * Sender of an idempotent producer that looks for a broker to give it an id does not notice that it is closed: so the
 * TransactionManager is put into a fatal error first. And from 2.1 to 2.4 a constructor that rejects retries or acks leaks
 * the selector that it has opened: see {@link SelectorTracker}.
 */
public final class IdempotenceConfigRule extends Rule {
    private final String release;

    public IdempotenceConfigRule(String release) {
        this.release = release;
    }

    @Override
    protected Map<String, Object> answer(Map<String, Object> question) throws Exception {
        Map<String, Object> config = new HashMap<>();
        ((Map<?, ?>) question.get("config")).forEach((name, value) -> config.put((String) name, value));
        config.put("bootstrap.servers", "127.0.0.1:9");
        config.put("client.id", "oracle-" + release);
        config.put("retry.backoff.ms", "1"); // how long a Sender that looks for a broker sleeps before it sees that it is closed
        config.put("enable.metrics.push", "false"); // since 3.7: it only takes time
        config.put("metric.reporters", SelectorTracker.class.getName());
        KafkaProducer<byte[], byte[]> producer = kafka(() -> construct(config));
        try {
            return settings(producer);
        } finally {
            end(producer);
        }
    }

    private static KafkaProducer<byte[], byte[]> construct(Map<String, Object> config) throws Exception {
        SelectorTracker.forgetAll();
        try {
            return new KafkaProducer<>(config, new ByteArraySerializer(), new ByteArraySerializer());
        } catch (KafkaException thrown) {
            SelectorTracker.closeAll();
            Throwable innermost = thrown;
            while (innermost.getCause() != null) {
                innermost = innermost.getCause();
            }
            throw innermost instanceof Exception ? (Exception) innermost : thrown;
        }
    }

    private Map<String, Object> settings(KafkaProducer<byte[], byte[]> producer) throws ReflectiveOperationException {
        Object sender = Members.get(producer, "sender");
        Object inFlight = Members.get(Members.get(sender, "client"), "inFlightRequests");
        Object transactions = transactionManager(producer);
        Map<String, Object> found = new LinkedHashMap<>();
        found.put("idempotent", transactions != null);
        found.put("transactional", transactions != null && (Boolean) Members.call(transactions, "isTransactional"));
        found.put("acks", ((Number) Members.get(sender, "acks")).intValue());
        found.put("retries", Members.get(sender, "retries"));
        found.put("max_in_flight", Members.get(inFlight, "maxInFlightRequestsPerConnection"));
        found.put("guarantee_order", Members.get(sender, "guaranteeMessageOrder"));
        return found;
    }

    private void end(KafkaProducer<byte[], byte[]> producer) throws ReflectiveOperationException {
        Object transactions = transactionManager(producer);
        if (transactions != null && !ProducerClose.takesDuration()) {
            Members.call(transactions, "transitionToFatalError", new KafkaException("the oracle closes this producer"));
        }
        ProducerClose.close(producer);
    }

    /** The TransactionManager, by which a producer is idempotent; null if it is not, or in 0.10, which has none. */
    private Object transactionManager(KafkaProducer<byte[], byte[]> producer) throws ReflectiveOperationException {
        return release.startsWith("0.10.") ? null : Members.get(producer, "transactionManager");
    }
}
