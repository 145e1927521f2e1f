package kafkaoracle.sender;

import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import kafkaoracle.accumulator.AccumulatorAccess;
import kafkaoracle.rule.Rule;
import org.apache.kafka.clients.ClientRequest;
import org.apache.kafka.clients.producer.internals.Sender;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.protocol.Errors;

/** Sender as this release has it, and the responses that it reads: arguments go by their types, as they were moved often. */
public final class SenderAccess {
    private static final Constructor<?> SENDER = Sender.class.getConstructors()[0];
    private static final Method ONCE = once();

    private final Object sender;
    private final boolean takesTime = ONCE.getParameterCount() == 1;

    public SenderAccess(
        AccumulatorAccess kafka, AccumulatorAccess.View view, SenderNetwork network, Map<?, ?> config
    ) throws Exception {
        int maxInFlight = Rule.integer(config.get("max_in_flight"));
        List<Object> integers = new ArrayList<>(List.of(1 << 20, config.get("retries"), config.get("request_timeout_ms")));
        Object acks = config.get("acks").equals("all") ? (Object) (short) -1 : Short.valueOf((String) config.get("acks"));
        Class<?>[] types = SENDER.getParameterTypes();
        Object[] arguments = new Object[types.length];
        for (int at = 0; at < types.length; at++) {
            Class<?> type = types[at];
            arguments[at] = type == int.class ? Rule.integer(integers.remove(0))
                : type == boolean.class ? (Object) (maxInFlight == 1)
                : type == short.class ? acks
                : type == long.class ? ((Number) config.get("retry_backoff_ms")).longValue()
                : other(type, kafka, view, network);
        }
        sender = SENDER.newInstance(arguments);
    }

    private static Object other(
        Class<?> type, AccumulatorAccess kafka, AccumulatorAccess.View view, SenderNetwork network
    ) throws Exception {
        switch (type.getSimpleName()) {
            case "KafkaClient":
                return network.client;
            case "Metadata":
            case "ProducerMetadata":
                return metadata(type, kafka, view);
            case "RecordAccumulator":
                return kafka.accumulator;
            case "Time":
                return kafka.time;
            case "TransactionManager":
                return kafka.producer == null ? null : kafka.producer.manager;
            case "SenderMetricsRegistry":
                return type.getConstructor(Metrics.class).newInstance(new Metrics());
            default: // LogContext, ApiVersions, to 0.11 Metrics
                return type.getConstructor().newInstance();
        }
    }

    /** Metadata that was filled with this view, wherever this release keeps it. */
    private static Object metadata(Class<?> type, AccumulatorAccess kafka, AccumulatorAccess.View view) throws Exception {
        Constructor<?> constructor = Arrays.stream(type.getConstructors())
            .max((one, other) -> one.getParameterCount() - other.getParameterCount()).orElseThrow();
        List<Object> arguments = new ArrayList<>();
        for (Class<?> each : constructor.getParameterTypes()) {
            arguments.add(each == long.class ? (Object) 100L : each == boolean.class ? (Object) false
                : each.getSimpleName().equals("Time") ? kafka.time : each.getConstructor().newInstance());
        }
        Object metadata = constructor.newInstance(arguments.toArray());
        Class<?> base = Class.forName("org.apache.kafka.clients.Metadata");
        Field whole = AccumulatorAccess.field(base, "cluster");
        Field snapshot = AccumulatorAccess.field(base, "metadataSnapshot");
        if (whole != null) {
            whole.set(metadata, view.cluster);
        } else if (snapshot != null) {
            snapshot.set(metadata, view.passed);
        } else {
            Field cache = AccumulatorAccess.field(base, "cache");
            Object held = emptied(cache.getType());
            AccumulatorAccess.field(cache.getType(), "clusterInstance").set(held, view.cluster);
            cache.set(metadata, held);
        }
        return metadata;
    }

    private static Object emptied(Class<?> cache) throws Exception {
        Constructor<?> constructor = Arrays.stream(cache.getDeclaredConstructors())
            .min((one, other) -> one.getParameterCount() - other.getParameterCount()).orElseThrow();
        constructor.setAccessible(true);
        List<Object> arguments = new ArrayList<>();
        for (Class<?> type : constructor.getParameterTypes()) {
            arguments.add(type == Map.class ? Map.of() : type == Set.class ? Set.of()
                : type == List.class || type == Collection.class ? List.of() : type == Cluster.class ? Cluster.empty() : null);
        }
        return constructor.newInstance(arguments.toArray());
    }

    private static Method once() {
        Method found = AccumulatorAccess.declared(Sender.class, "runOnce");
        if (found == null) {
            found = Arrays.stream(Sender.class.getDeclaredMethods())
                .filter(method -> method.getName().equals("run") && method.getParameterCount() == 1).findFirst().orElseThrow();
            found.setAccessible(true);
        }
        return found;
    }

    public void run(long now) throws Exception {
        Rule.kafka(() -> takesTime ? ONCE.invoke(sender, now) : ONCE.invoke(sender));
    }

    /** The batches of a produce request, by partition: its callback holds them. */
    @SuppressWarnings("unchecked")
    public static Map<TopicPartition, Object> batches(ClientRequest request) throws Exception {
        Object callback = request.callback();
        for (Field field : callback.getClass().getDeclaredFields()) {
            if (Map.class.isAssignableFrom(field.getType())) {
                field.setAccessible(true);
                Map<?, ?> held = (Map<?, ?>) field.get(callback);
                if (!held.isEmpty() && held.keySet().iterator().next() instanceof TopicPartition) {
                    Map<TopicPartition, Object> sorted = new TreeMap<>(Comparator.comparing(TopicPartition::partition));
                    sorted.putAll((Map<TopicPartition, Object>) held);
                    return sorted;
                }
            }
        }
        throw new IllegalStateException("the callback of a produce request holds no batches");
    }

    /** What a produce request says on the wire. */
    public static List<Object> onTheWire(ClientRequest request) throws Exception {
        List<Object> found = new ArrayList<>();
        for (Map.Entry<TopicPartition, Object> entry : batches(request).entrySet()) {
            found.add(onTheWire(entry.getKey(), entry.getValue()));
        }
        return found;
    }

    /** What a batch says on the wire, and which records are in it: their values begin with their numbers. */
    private static Map<String, Object> onTheWire(TopicPartition of, Object batch) throws Exception {
        if (AccumulatorAccess.declared(batch.getClass(), "records") == null) {
            return onTheWireIn010(of, AccumulatorAccess.field(batch.getClass(), "records").get(batch));
        }
        Object records = AccumulatorAccess.declared(batch.getClass(), "records").invoke(batch);
        Object written = ((Iterable<?>) call(records, "batches")).iterator().next();
        List<Integer> numbers = new ArrayList<>();
        for (Iterator<?> each = ((Iterable<?>) written).iterator(); each.hasNext();) {
            numbers.add(((ByteBuffer) call(each.next(), "value")).getInt());
        }
        Map<String, Object> answer = new HashMap<>();
        answer.put("partition", of.partition());
        answer.put("records", numbers);
        answer.put("producer_id", call(written, "producerId"));
        answer.put("epoch", call(written, "producerEpoch"));
        answer.put("sequence", call(written, "baseSequence"));
        return answer;
    }

    private static Map<String, Object> onTheWireIn010(TopicPartition of, Object records) throws Exception {
        List<Integer> numbers = new ArrayList<>();
        for (Iterator<?> each = ((Iterable<?>) records).iterator(); each.hasNext();) {
            numbers.add(((ByteBuffer) call(call(each.next(), "record"), "value")).getInt());
        }
        return Map.of("partition", of.partition(), "records", numbers, "producer_id", -1, "epoch", -1, "sequence", -1);
    }

    private static Object call(Object on, String name) throws Exception {
        return AccumulatorAccess.declared(on.getClass(), name).invoke(on);
    }

    /** An answer to a produce request: for each partition an error, the offset of its first record, and where its log begins. */
    public static Object produceResponse(Map<TopicPartition, Object[]> answers) throws Exception {
        Class<?> response = Class.forName("org.apache.kafka.common.requests.ProduceResponse");
        String data = "org.apache.kafka.common.message.ProduceResponseData";
        if (!has(response, data)) {
            Map<TopicPartition, Object> byPartition = new LinkedHashMap<>();
            Class<?> one = Class.forName("org.apache.kafka.common.requests.ProduceResponse$PartitionResponse");
            for (Map.Entry<TopicPartition, Object[]> entry : answers.entrySet()) {
                byPartition.put(entry.getKey(), partitionResponse(one, entry.getValue()));
            }
            return Arrays.stream(one.getConstructors()).anyMatch(each -> each.getParameterTypes()[0] == Errors.class)
                ? response.getConstructor(Map.class).newInstance(byPartition)
                : response.getConstructor(Map.class, int.class).newInstance(byPartition, 0);
        }
        Object all = Class.forName(data).getConstructor().newInstance();
        Object topic = Class.forName(data + "$TopicProduceResponse").getConstructor().newInstance();
        set(topic, "setName", "t");
        List<Object> partitions = new ArrayList<>();
        for (Map.Entry<TopicPartition, Object[]> entry : answers.entrySet()) {
            Object one = Class.forName(data + "$PartitionProduceResponse").getConstructor().newInstance();
            set(one, "setIndex", entry.getKey().partition());
            set(one, "setErrorCode", ((Errors) entry.getValue()[0]).code());
            set(one, "setBaseOffset", entry.getValue()[1]);
            set(one, "setLogStartOffset", entry.getValue()[2]);
            partitions.add(one);
        }
        set(topic, "setPartitionResponses", partitions);
        @SuppressWarnings("unchecked")
        Collection<Object> topics = (Collection<Object>) all.getClass().getMethod("responses").invoke(all);
        topics.add(topic);
        return response.getConstructor(all.getClass()).newInstance(all);
    }

    private static boolean has(Class<?> response, String argument) {
        return Arrays.stream(response.getConstructors())
            .anyMatch(one -> one.getParameterCount() == 1 && one.getParameterTypes()[0].getName().equals(argument));
    }

    private static Object partitionResponse(Class<?> type, Object[] answer) throws Exception {
        try {
            return type.getConstructor(Errors.class, long.class, long.class, long.class)
                .newInstance(answer[0], answer[1], -1L, answer[2]);
        } catch (NoSuchMethodException older) { // 0.11 has no beginning of the log, 0.10 takes a number
            Constructor<?> made = Arrays.stream(type.getConstructors())
                .filter(each -> each.getParameterCount() == 3).findFirst().orElseThrow();
            Object error = made.getParameterTypes()[0] == Errors.class ? answer[0] : (Object) ((Errors) answer[0]).code();
            return made.newInstance(error, answer[1], -1L);
        }
    }

    public static Object idResponse(Errors error, long id, short epoch) throws Exception {
        Class<?> response = Class.forName("org.apache.kafka.common.requests.InitProducerIdResponse");
        String data = "org.apache.kafka.common.message.InitProducerIdResponseData";
        if (!has(response, data)) {
            return response.getConstructor(int.class, Errors.class, long.class, short.class).newInstance(0, error, id, epoch);
        }
        Object all = Class.forName(data).getConstructor().newInstance();
        set(all, "setErrorCode", error.code());
        set(all, "setProducerId", id);
        set(all, "setProducerEpoch", epoch);
        return response.getConstructor(all.getClass()).newInstance(all);
    }

    private static void set(Object on, String name, Object value) throws Exception {
        AccumulatorAccess.declared(on.getClass(), name).invoke(on, value);
    }
}
