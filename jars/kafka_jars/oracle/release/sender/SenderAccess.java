package kafkaoracle.sender;

import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.util.Map;
import kafkaoracle.accumulator.AccumulatorAccess;
import kafkaoracle.cluster.ClusterView;
import kafkaoracle.reflection.Arguments;
import kafkaoracle.reflection.Members;
import kafkaoracle.rule.Rule;
import org.apache.kafka.clients.KafkaClient;
import org.apache.kafka.clients.producer.internals.RecordAccumulator;
import org.apache.kafka.clients.producer.internals.Sender;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.utils.Time;

/** The Sender of this release. Arguments of its constructor are matched by type, as they were moved often. */
public final class SenderAccess {
    private static final Constructor<?> SENDER = Sender.class.getConstructors()[0];
    /** One round: runOnce, up to 2.2 run(long). */
    private static final Method ONCE = Members.method(Sender.class, "runOnce") != null
        ? Members.method(Sender.class, "runOnce") : Members.method(Sender.class, "run", 1);

    private final Object sender;

    public SenderAccess(AccumulatorAccess kafka, ClusterView view, SenderNetwork network, Map<?, ?> config) throws Exception {
        Object acks = config.get("acks").equals("all") ? (Object) (short) -1 : Short.valueOf((String) config.get("acks"));
        sender = SENDER.newInstance(new Arguments()
            .give(int.class, 1 << 20, Rule.integer(config.get("retries")), Rule.integer(config.get("request_timeout_ms")))
            .giveAll(boolean.class, Rule.integer(config.get("max_in_flight")) == 1).giveAll(short.class, acks)
            .giveAll(long.class, Rule.number(config, "retry_backoff_ms", 0)).giveAll(KafkaClient.class, network.client)
            .giveAll(RecordAccumulator.class, kafka.accumulator).giveAll(Time.class, kafka.clock.time)
            .match(SENDER.getParameterTypes(), type -> {
                switch (type.getSimpleName()) {
                    case "Metadata":
                    case "ProducerMetadata":
                        return FilledMetadata.create(type, kafka.clock, view);
                    case "TransactionManager":
                        return kafka.transactions == null ? null : kafka.transactions.manager;
                    case "SenderMetricsRegistry":
                        return type.getConstructor(Metrics.class).newInstance(new Metrics());
                    default: // LogContext, ApiVersions, up to 0.11 Metrics
                        return type.getConstructor().newInstance();
                }
            }));
    }

    /** Runs one round at this time; what it throws is the answer. */
    public void run(long now) throws Exception {
        run(sender, now);
    }

    /** Runs one round of a Sender at this time; what it throws is the answer. */
    public static void run(Object sender, long now) throws Exception {
        Rule.kafka(() -> ONCE.getParameterCount() == 1 ? ONCE.invoke(sender, now) : ONCE.invoke(sender));
    }
}
