package kafkaoracle.accumulator;

import java.lang.reflect.Constructor;
import java.util.Arrays;
import java.util.Collections;
import java.util.Map;
import kafkaoracle.reflection.Arguments;
import kafkaoracle.rule.Rule;
import org.apache.kafka.clients.producer.internals.BufferPool;
import org.apache.kafka.clients.producer.internals.RecordAccumulator;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.utils.Time;

/** Makes this release's RecordAccumulator: its constructor took 7 to 14 arguments in 11 orders, so they go by their types. */
final class AccumulatorFactory {
    private AccumulatorFactory() {
    }

    /** {@code transactionManager} is null without idempotence. */
    static RecordAccumulator create(
        AccumulatorChoice choice, Map<String, Object> config, SteppedClock clock, CodecStandIn codec, Object transactionManager
    ) throws Exception {
        Constructor<?> constructor = choice.constructor();
        int batchSize = Rule.integer(config.get("batch_size"));
        int lingerMs = Rule.integer(config.get("linger_ms"));
        int deliveryTimeoutMs = Rule.integer(config.get("delivery_timeout_ms"));
        long memory = number(config, "buffer_memory");
        long backoffMs = number(config, "retry_backoff_ms");
        long backoffMaxMs = number(config, "retry_backoff_max_ms");
        Metrics metrics = new Metrics();
        Arguments arguments = new Arguments()
            .giveAll(Metrics.class, metrics).giveAll(String.class, "g").giveAll(Time.class, clock.time);
        boolean makesPool = !Arrays.asList(constructor.getParameterTypes()).contains(BufferPool.class); // up to 2.0.1
        if (!makesPool) {
            arguments.giveAll(BufferPool.class, choice.pool(memory, batchSize, metrics, clock.time));
        }
        if (Collections.frequency(Arrays.asList(constructor.getParameterTypes()), int.class) > 1) {
            arguments.give(int.class, batchSize, lingerMs, deliveryTimeoutMs).give(long.class, backoffMs, backoffMaxMs);
        } else if (makesPool) {
            arguments.give(int.class, batchSize).give(long.class, memory, (long) lingerMs, backoffMs, backoffMaxMs);
        } else { // 2.1.0 to 2.2.0: all times are longs
            arguments.give(int.class, batchSize).give(long.class, (long) lingerMs, backoffMs, (long) deliveryTimeoutMs);
        }
        return (RecordAccumulator) constructor.newInstance(arguments.match(constructor.getParameterTypes(), type -> {
            switch (type.getSimpleName()) {
                case "TransactionManager":
                    return transactionManager;
                case "CompressionType":
                case "Compression":
                    return codec.codec(type);
                case "PartitionerConfig":
                    return partitionerConfig(type, config);
                default: // LogContext, ApiVersions
                    return type.getConstructor().newInstance();
            }
        }));
    }

    private static Object partitionerConfig(Class<?> type, Map<String, Object> config) throws ReflectiveOperationException {
        Object adaptive = config.get("adaptive");
        long timeoutMs = number(config, "availability_timeout_ms");
        if (Arrays.stream(type.getConstructors()).anyMatch(each -> each.getParameterCount() == 4)) { // 4.4.0: and racks
            return type.getConstructor(boolean.class, long.class, boolean.class, String.class)
                .newInstance(adaptive, timeoutMs, config.getOrDefault("rack_aware", false), config.getOrDefault("rack", ""));
        }
        return type.getConstructor(boolean.class, long.class).newInstance(adaptive, timeoutMs);
    }

    private static long number(Map<String, Object> config, String name) {
        return ((Number) config.get(name)).longValue();
    }
}
