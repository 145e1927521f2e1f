package kafkaoracle.consumer_fetch;

import static kafkaoracle.rule.Rule.bytes;
import static kafkaoracle.rule.Rule.kafka;

import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import kafkaoracle.reflection.Arguments;
import kafkaoracle.reflection.Members;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.Deserializer;
import org.apache.kafka.common.utils.Time;

/**
 * A consumer's Fetcher without a network: its SubscriptionState has one partition at the fetch offset, and a completed fetch
 * is put where a response would be.
 *
 * <table>
 * <tr><td>up to 2.3.x</td><td>Fetcher.CompletedFetch is static and takes the fetch offset</td></tr>
 * <tr><td>2.4.0 to 3.4.x</td><td>it belongs to a Fetcher and takes the iterator of batches</td></tr>
 * <tr><td>since 3.5.0</td><td>CompletedFetch is a top-level class</td></tr>
 * <tr><td>since 3.7.0</td><td>a FetchBuffer holds it, and FetchCollector reads it</td></tr>
 * </table>
 */
final class FetcherAccess implements AutoCloseable {
    private static final String INTERNALS = "org.apache.kafka.clients.consumer.internals.";
    private static final TopicPartition PARTITION = new TopicPartition("t", 0);
    private static final int LIMIT = 500;
    private static final short VERSION = 11;
    private static final long NONE = -1;

    private final Metrics metrics = new Metrics();
    private final boolean checkCrcs;
    private final boolean readCommitted;
    private final Object subscriptions;
    private final Object fetcher;

    FetcherAccess(Map<String, Object> question) throws Exception {
        checkCrcs = !Boolean.FALSE.equals(question.get("check_crcs"));
        readCommitted = Boolean.TRUE.equals(question.get("read_committed"));
        subscriptions = make(Members.type(INTERNALS + "SubscriptionState"), new Arguments());
        long offset = int64(question.getOrDefault("fetch_offset", 0));
        Members.call(subscriptions, "assignFromUser", Set.of(PARTITION));
        Members.call(subscriptions, "seek", PARTITION, offset);
        fetcher = make(Members.type(INTERNALS + "Fetcher"), new Arguments());
        Object records = records(bytes(question.get("records")));
        put(completedFetch(records, (List<?>) question.getOrDefault("aborted", List.of()), offset));
    }

    /** The offsets of the records that the consumer returns. */
    List<Long> poll() throws Exception {
        Method collect = Members.method(fetcher.getClass(), "collectFetch", 0);
        Object fetched = collect != null ? kafka(() -> collect.invoke(fetcher)) : kafka(fetcher, "fetchedRecords");
        Object records = fetched instanceof Map ? fetched : Members.call(fetched, "records");
        List<Long> offsets = new ArrayList<>();
        for (Object each : ((Map<?, ?>) records).values()) {
            for (Object record : (Collection<?>) each) {
                offsets.add(((ConsumerRecord<?, ?>) record).offset());
            }
        }
        return offsets;
    }

    /** The position, which is a number or, since 2.3.0, a FetchPosition. */
    long position() throws ReflectiveOperationException {
        Object position = Members.call(subscriptions, "position", PARTITION);
        return position instanceof Long number ? number : (Long) Members.get(position, "offset");
    }

    @Override
    public void close() {
        metrics.close();
    }

    private void put(Object fetch) throws ReflectiveOperationException {
        if (Members.field(fetcher.getClass(), "fetchBuffer") != null) {
            Members.call(Members.get(fetcher, "fetchBuffer"), "add", fetch);
            return;
        }
        @SuppressWarnings("unchecked")
        Queue<Object> fetches = (Queue<Object>) Members.get(fetcher, "completedFetches");
        fetches.add(fetch);
    }

    private static Object records(byte[] data) throws Exception {
        Method readable = Members.recordType("MemoryRecords").getMethod("readableRecords", ByteBuffer.class);
        return readable.invoke(null, ByteBuffer.wrap(data));
    }

    private Object completedFetch(Object records, List<?> aborted, long offset) throws Exception {
        Constructor<?> constructor = Members.constructor(Members.type(INTERNALS + "CompletedFetch", INTERNALS + "Fetcher$CompletedFetch"));
        Arguments arguments = new Arguments().giveAll(Long.class, offset).giveAll(long.class, offset).giveAll(short.class, VERSION)
            .giveAll(TopicPartition.class, PARTITION)
            .giveAll(Iterator.class, ((Iterable<?>) Members.call(records, "batches")).iterator());
        for (Class<?> type : constructor.getParameterTypes()) {
            if (type.getSimpleName().equals("PartitionData")) {
                arguments.giveAll(type, partitionData(type, records, aborted));
            }
        }
        return constructor.newInstance(arguments.match(constructor.getParameterTypes(), this::argument));
    }

    private static Object partitionData(Class<?> type, Object records, List<?> aborted) throws Exception {
        List<Object> transactions = new ArrayList<>();
        Class<?> transaction = Members.nestedType(type.getDeclaringClass(), "AbortedTransaction");
        boolean isGenerated = Members.method(type, "setRecords", 1) != null;
        for (Object each : aborted) {
            long producer = int64(((List<?>) each).get(0));
            long first = int64(((List<?>) each).get(1));
            if (isGenerated) {
                Object empty = transaction.getConstructor().newInstance();
                Members.call(empty, "setProducerId", producer);
                transactions.add(Members.call(empty, "setFirstOffset", first));
            } else {
                transactions.add(transaction.getConstructor(long.class, long.class).newInstance(producer, first));
            }
        }
        if (isGenerated) {
            Object data = type.getConstructor().newInstance();
            Members.call(data, "setHighWatermark", NONE);
            Members.call(data, "setAbortedTransactions", transactions);
            return Members.call(data, "setRecords", records);
        }
        Constructor<?> constructor = Members.constructor(type);
        Class<?> errors = Members.type("org.apache.kafka.common.protocol.Errors");
        Arguments arguments = new Arguments().giveAll(errors, Members.getStatic(errors, "NONE")).giveAll(long.class, NONE)
            .giveAll(Optional.class, Optional.empty()).giveAll(List.class, transactions);
        return constructor.newInstance(arguments.match(constructor.getParameterTypes(), other -> records));
    }

    private Object make(Class<?> type, Arguments arguments) throws Exception {
        Constructor<?> constructor = Members.constructor(type);
        return constructor.newInstance(arguments.match(constructor.getParameterTypes(), this::argument));
    }

    /** Whatever a constructor of the consumer's asks for; null for what reading a response does not need. */
    private Object argument(Class<?> type) throws Exception {
        if (type == int.class || type == long.class) {
            return type == int.class ? (Object) LIMIT : (Object) (long) LIMIT;
        }
        if (type == boolean.class) {
            return checkCrcs;
        }
        if (type == Deserializer.class) {
            return new ByteArrayDeserializer();
        }
        if (type == Metrics.class) {
            return metrics;
        }
        if (type == Time.class) {
            return Time.SYSTEM;
        }
        if (type == String.class) {
            return "consumer";
        }
        if (type == Set.class) {
            return Set.of();
        }
        return internal(type);
    }

    private Object internal(Class<?> type) throws Exception {
        switch (type.getSimpleName()) {
            case "Fetcher":
                return fetcher;
            case "SubscriptionState":
                return subscriptions;
            case "IsolationLevel":
                return Members.getStatic(type, readCommitted ? "READ_COMMITTED" : "READ_UNCOMMITTED");
            case "OffsetResetStrategy":
            case "AutoOffsetResetStrategy":
                return Members.getStatic(type, "NONE");
            case "LogContext":
                return type.getConstructor().newInstance();
            case "Logger":
                return org.slf4j.LoggerFactory.getLogger(FetcherAccess.class);
            case "BufferSupplier":
                return Members.get(fetcher, "decompressionBufferSupplier");
            case "FetchManagerMetrics":
                return Members.get(fetcher, "sensors");
            case "FetchResponseMetricAggregator":
            case "FetchMetricsAggregator":
                return make(type, new Arguments().giveAll(Set.class, new HashSet<>(Set.of(PARTITION))));
            case "FetchConfig":
            case "FetchMetricsManager":
            case "FetcherMetricsRegistry":
            case "FetchMetricsRegistry":
            case "MetricsLedger":
                return make(type, new Arguments());
            case "Deserializers":
                return deserializers(type);
            default:
                return null;
        }
    }

    /** A constructor without a ConsumerConfig, which would need all required settings. */
    private Object deserializers(Class<?> type) throws Exception {
        for (Constructor<?> each : type.getDeclaredConstructors()) {
            if (each.getParameterTypes()[0] == Deserializer.class) {
                return each.newInstance(new Arguments().match(each.getParameterTypes(), this::argument));
            }
        }
        throw new NoSuchMethodException(type.getName());
    }

    private static long int64(Object number) {
        return number instanceof String text ? Long.parseLong(text) : ((Number) number).longValue();
    }
}
