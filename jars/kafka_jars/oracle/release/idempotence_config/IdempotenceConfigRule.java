package kafkaoracle.idempotence_config;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import kafkaoracle.rule.Rule;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.metrics.KafkaMetric;
import org.apache.kafka.common.metrics.MetricsReporter;
import org.apache.kafka.common.network.Selector;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * A real KafkaProducer for each question, offline, and what it is left with: read from the objects that act by it (the
 * Sender, its network client, the TransactionManager), not from the configuration, which does not always say so.
 *
 * The producer is closed at once, which ends its thread, its selector and its beans. Two things stand in the way of that.
 * To 2.1.0 the Sender of an idempotent producer does not notice that it is closed while it looks for a broker to give it an
 * id, for ever if there is none: so it is first told that all is lost. And from 2.1 to 2.4 a constructor that refuses
 * retries or acks has opened a selector by then and forgets it: see {@link Selectors}.
 */
public final class IdempotenceConfigRule extends Rule {
    private final String release;
    private final Method close;
    private final Object[] atOnce;

    public IdempotenceConfigRule(String release) throws NoSuchMethodException {
        this.release = release;
        Method found;
        Object[] arguments;
        try {
            found = KafkaProducer.class.getMethod("close", Duration.class);
            arguments = new Object[] {Duration.ZERO};
        } catch (NoSuchMethodException older) {
            found = KafkaProducer.class.getMethod("close", long.class, TimeUnit.class);
            arguments = new Object[] {0L, TimeUnit.MILLISECONDS};
        }
        this.close = found;
        this.atOnce = arguments;
    }

    @Override
    protected Map<String, Object> answer(Map<String, Object> question) throws Exception {
        Map<String, Object> config = new HashMap<>();
        ((Map<?, ?>) question.get("config")).forEach((name, value) -> config.put((String) name, value));
        config.put("bootstrap.servers", "127.0.0.1:9");
        config.put("client.id", "oracle-" + release);
        config.put("retry.backoff.ms", "1"); // a Sender that looks for a broker sleeps so long before it sees that it is closed
        config.put("enable.metrics.push", "false"); // since 3.7: nothing but time
        config.put("metric.reporters", Selectors.class.getName());
        KafkaProducer<byte[], byte[]> producer = kafka(() -> constructed(config));
        try {
            return outcome(producer);
        } finally {
            end(producer);
        }
    }

    private static KafkaProducer<byte[], byte[]> constructed(Map<String, Object> config) throws Exception {
        Selectors.OPENED.clear();
        try {
            return new KafkaProducer<>(config, new ByteArraySerializer(), new ByteArraySerializer());
        } catch (KafkaException raised) {
            Selectors.close(Selectors.OPENED);
            Throwable innermost = raised;
            while (innermost.getCause() != null) {
                innermost = innermost.getCause();
            }
            throw innermost instanceof Exception ? (Exception) innermost : raised;
        }
    }

    private Map<String, Object> outcome(KafkaProducer<byte[], byte[]> producer) throws ReflectiveOperationException {
        Object sender = read(producer, "sender");
        Object inFlight = read(read(sender, "client"), "inFlightRequests");
        Object transactions = transactions(producer);
        Map<String, Object> found = new LinkedHashMap<>();
        found.put("idempotent", transactions != null);
        found.put("transactional", transactions != null
            && (Boolean) method(transactions, "isTransactional").invoke(transactions));
        found.put("acks", ((Number) read(sender, "acks")).intValue());
        found.put("retries", read(sender, "retries"));
        found.put("max_in_flight", read(inFlight, "maxInFlightRequestsPerConnection"));
        found.put("guarantee_order", read(sender, "guaranteeMessageOrder"));
        return found;
    }

    private void end(KafkaProducer<byte[], byte[]> producer) throws ReflectiveOperationException {
        Object transactions = transactions(producer);
        if (transactions != null && atOnce.length > 1) {
            method(transactions, "transitionToFatalError", RuntimeException.class)
                .invoke(transactions, new KafkaException("the oracle has seen enough"));
        }
        close.invoke(producer, atOnce);
    }

    /** The TransactionManager, by which a producer is idempotent; null if it is not, or if nobody had heard of that yet. */
    private Object transactions(KafkaProducer<byte[], byte[]> producer) throws ReflectiveOperationException {
        return release.startsWith("0.10.") ? null : read(producer, "transactionManager");
    }

    private static Method method(Object of, String name, Class<?>... arguments) throws ReflectiveOperationException {
        Method found = of.getClass().getDeclaredMethod(name, arguments);
        found.setAccessible(true);
        return found;
    }

    private static Object read(Object of, String name) throws ReflectiveOperationException {
        Field found = of.getClass().getDeclaredField(name);
        found.setAccessible(true);
        return found.get(of);
    }

    /**
     * The selectors that were opened while a producer was made, so that those of a producer that never came to be can be
     * closed: whoever reports metrics is shown the number of a selector's connections, which is counted by the selector.
     */
    public static final class Selectors implements MetricsReporter {
        private static final List<KafkaMetric> OPENED = new ArrayList<>();

        @Override
        public void metricChange(KafkaMetric metric) {
            if (metric.metricName().name().equals("connection-count")) {
                OPENED.add(metric);
            }
        }

        private static void close(List<KafkaMetric> counts) throws Exception {
            for (KafkaMetric count : counts) {
                Object measured = read(count, "metricValueProvider"); // a lambda of SelectorMetrics, which belongs to a Selector
                Field metrics = measured.getClass().getDeclaredFields()[0];
                metrics.setAccessible(true);
                ((Selector) read(metrics.get(measured), "this$0")).close();
            }
            counts.clear();
        }

        @Override
        public void init(List<KafkaMetric> metrics) {
        }

        @Override
        public void metricRemoval(KafkaMetric metric) {
        }

        @Override
        public void configure(Map<String, ?> config) {
        }

        @Override
        public void close() {
        }
    }
}
