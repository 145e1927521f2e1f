package kafkaoracle.idempotence_config;

import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import kafkaoracle.reflection.Members;
import org.apache.kafka.common.metrics.KafkaMetric;
import org.apache.kafka.common.metrics.MetricsReporter;
import org.apache.kafka.common.network.Selector;

/**
 * The selectors that were opened while a producer was made, so that those of a producer whose constructor threw can be
 * closed. A metrics reporter receives the metric connection-count, and that is measured by a lambda of the selector's.
 */
public final class SelectorTracker implements MetricsReporter {
    private static final List<KafkaMetric> OPENED = new ArrayList<>();

    static void forgetAll() {
        OPENED.clear();
    }

    static void closeAll() throws ReflectiveOperationException {
        for (KafkaMetric count : OPENED) {
            Object measured = Members.get(count, "metricValueProvider"); // a lambda of SelectorMetrics, an inner class of Selector
            Field metrics = measured.getClass().getDeclaredFields()[0];
            metrics.setAccessible(true);
            ((Selector) Members.get(metrics.get(measured), "this$0")).close();
        }
        OPENED.clear();
    }

    @Override
    public void metricChange(KafkaMetric metric) {
        if (metric.metricName().name().equals("connection-count")) {
            OPENED.add(metric);
        }
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
