package kafkaoracle.accumulator;

import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BiConsumer;
import java.util.stream.Stream;
import kafkaoracle.cluster.Clusters;
import kafkaoracle.rule.Rule;
import kafkaoracle.transactions.TransactionManagerAccess;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.internals.BufferPool;
import org.apache.kafka.clients.producer.internals.RecordAccumulator;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.utils.Time;

/**
 * RecordAccumulator as this release has it: its constructor took 7 to 14 arguments in 11 orders, so arguments go by their
 * types, and most of what is asked is private. Time stands still unless a step moves it.
 */
public final class AccumulatorAccess {
    private static final Class<RecordAccumulator> ACCUMULATOR = RecordAccumulator.class;

    public long now;
    public int appendedTo;
    public final boolean choosesPartitions = nested("AppendCallbacks") != null;
    public final boolean splits = declared(ACCUMULATOR, "splitAndReenqueue") != null;
    public final boolean expiresInFlight = declared(ACCUMULATOR, "resetNextBatchExpiryTime") != null;
    public final boolean forgetsExpired = declared(ACCUMULATOR, "abortExpiredBatches") != null;

    public final CodecStandIn codec = new CodecStandIn();
    public final AccumulatorChoice allocation = new AccumulatorChoice();

    private final Method append = declared(ACCUMULATOR, "append");
    private final Method ready = declared(ACCUMULATOR, "ready");
    private final Method drain = declared(ACCUMULATOR, "drain");
    private final Method getDeque = declared(ACCUMULATOR, "getDeque");
    private final Method latency = declared(ACCUMULATOR, "updateNodeLatencyStats");
    private final Method unmute = declared(ACCUMULATOR, "unmutePartition");
    private final Method expired = first("expiredBatches", "abortExpiredBatches");
    private final Method resetNextExpiry = declared(ACCUMULATOR, "resetNextBatchExpiryTime");
    private final Method nextExpiry = declared(ACCUMULATOR, "nextExpiryTimeMs");
    private final Method undrained = first("hasUndrained", "hasUnsent");
    private final Method flushing = declared(ACCUMULATOR, "flushInProgress");
    private final Method deallocate = declared(ACCUMULATOR, "deallocate");
    private final Method release = first("completeAndDeallocateBatch", "deallocate");
    private final Class<?> batchClass = deallocate.getParameterTypes()[0];
    private final Field topicPartition = field(batchClass, "topicPartition");
    private final Field recordCount = field(batchClass, "recordCount");
    private final Method size = declared(batchClass, "estimatedSizeInBytes") != null
        ? declared(batchClass, "estimatedSizeInBytes") : declared(batchClass, "sizeInBytes");
    private final Method records = declared(batchClass, "records");
    private final Method setInFlight = declared(batchClass, "setInflight");
    private final Method isInFlight = declared(batchClass, "isInflight");
    private final Field incomplete = field(ACCUMULATOR, "incomplete");
    private final Field free = field(ACCUMULATOR, "free");
    private final Field topicInfo = field(ACCUMULATOR, "topicInfoMap");
    private final Class<?> viewClass = ready.getParameterTypes()[0];
    private final Field isFull = resultField("batchIsFull");
    private final Field isNew = resultField("newBatchCreated");
    private final Field appendedBytes = resultField("appendedBytes");

    public final Time time = (Time) proxy(Time.class, (self, method, arguments) -> {
        switch (method.getName()) {
            case "sleep":
                now += (Long) arguments[0];
                return null;
            case "milliseconds":
            case "hiResClockMs":
                return now;
            case "nanoseconds":
                return now * 1_000_000;
            default:
                throw new IllegalStateException("nobody foresaw that Kafka asks for Time." + method.getName());
        }
    });
    private final Object callbacks = choosesPartitions ? proxy(nested("AppendCallbacks"), (self, method, arguments) -> {
        if (method.getName().equals("setPartition")) {
            appendedTo = (Integer) arguments[0];
        }
        return null;
    }) : null;

    public TransactionManagerAccess producer;
    public RecordAccumulator accumulator;
    public int requestTimeout;

    private BufferPool pool;

    /** What this release calls a cluster; from 3.6.1 on that is a MetadataSnapshot, whose order of partitions is a HashMap's. */
    public static final class View {
        private final Map<Integer, Node> nodes = new HashMap<>();
        public Cluster cluster;
        public Object passed;

        public Node node(int id) {
            return nodes.getOrDefault(id, new Node(id, "gone", 9092));
        }
    }

    public void begin(Map<String, Object> config) throws Exception {
        now = 0;
        requestTimeout = Rule.integer(config.get("delivery_timeout_ms"));
        int batchSize = Rule.integer(config.get("batch_size"));
        long memory = number(config, "buffer_memory");
        Constructor<?> constructor = allocation.constructor();
        producer = producer(constructor, (Map<?, ?>) config.get("producer"));
        Metrics metrics = new Metrics();
        codec.begin(config);
        List<Long> longs = new ArrayList<>(List.of(number(config, "retry_backoff_ms"), number(config, "retry_backoff_max_ms")));
        List<Integer> ints = new ArrayList<>(List.of(batchSize, Rule.integer(config.get("linger_ms")), requestTimeout));
        boolean makesPool = !Arrays.asList(constructor.getParameterTypes()).contains(BufferPool.class);
        if (makesPool) { // to 2.0.1: total size and linger.ms are longs that come before the back-off
            longs.add(0, memory);
            longs.add(1, (long) ints.remove(1));
        } else {
            pool = allocation.pool(memory, batchSize, metrics, time);
        }
        Object[] arguments = Arrays.stream(constructor.getParameterTypes()).map(type -> {
            if (type == int.class) {
                return ints.remove(0);
            }
            return type == long.class ? longs.remove(0) : argument(type, metrics, config);
        }).toArray();
        accumulator = (RecordAccumulator) constructor.newInstance(arguments);
        pool = (BufferPool) free.get(accumulator);
    }

    /** The idempotent producer, if the question has one and this release can have one. */
    private static TransactionManagerAccess producer(Constructor<?> constructor, Map<?, ?> asked) throws Exception {
        Class<?> manager = Arrays.stream(constructor.getParameterTypes())
            .filter(type -> type.getSimpleName().equals("TransactionManager")).findFirst().orElse(null);
        return asked == null || manager == null ? null : new TransactionManagerAccess(manager, asked);
    }

    private Object argument(Class<?> type, Metrics metrics, Map<String, Object> config) {
        try {
            switch (type.getSimpleName()) {
                case "Metrics":
                    return metrics;
                case "String":
                    return "g";
                case "Time":
                    return time;
                case "BufferPool":
                    return pool;
                case "TransactionManager":
                    return producer == null ? null : producer.manager;
                case "CompressionType":
                case "Compression":
                    return codec.codec(type);
                case "PartitionerConfig":
                    return partitionerConfig(type, config);
                default: // LogContext, ApiVersions
                    return type.getConstructor().newInstance();
            }
        } catch (ReflectiveOperationException changed) {
            throw new IllegalStateException("RecordAccumulator takes a " + type + " that is not as it was", changed);
        }
    }

    private static Object partitionerConfig(Class<?> type, Map<String, Object> config) throws ReflectiveOperationException {
        Object adaptive = config.get("adaptive");
        long timeout = number(config, "availability_timeout_ms");
        if (Arrays.stream(type.getConstructors()).anyMatch(one -> one.getParameterCount() == 4)) { // 4.4.0: and racks
            return type.getConstructor(boolean.class, long.class, boolean.class, String.class)
                .newInstance(adaptive, timeout, config.getOrDefault("rack_aware", false), config.getOrDefault("rack", ""));
        }
        return type.getConstructor(boolean.class, long.class).newInstance(adaptive, timeout);
    }

    public View view(Object described, List<?> epochs, Collection<String> topics) throws Exception {
        View view = new View();
        Map<?, ?> asked = (Map<?, ?>) described;
        view.cluster = Clusters.from(described, topics);
        for (Object node : (List<?>) asked.get("nodes")) {
            int id = Rule.integer(((Map<?, ?>) node).get("id"));
            view.nodes.put(id, new Node(id, "node" + id, 9092, (String) ((Map<?, ?>) node).get("rack")));
        }
        view.passed = view.cluster;
        if (viewClass != Cluster.class) {
            view.passed = snapshot(view, (List<?>) asked.get("partitions"), epochs, topics);
            view.cluster = (Cluster) viewClass.getMethod("cluster").invoke(view.passed);
        }
        return view;
    }

    private Object snapshot(View view, List<?> partitions, List<?> epochs, Collection<String> topics) throws Exception {
        Constructor<?> describing = Class.forName("org.apache.kafka.common.requests.MetadataResponse$PartitionMetadata").getConstructors()[0];
        Object fine = describing.getParameterTypes()[0].getField("NONE").get(null);
        List<Object> described = new ArrayList<>();
        for (String topic : topics) {
            for (int at = 0; at < partitions.size(); at++) {
                Map<?, ?> partition = (Map<?, ?>) partitions.get(at);
                Object epoch = at < epochs.size() ? epochs.get(at) : null;
                described.add(describing.newInstance(fine, new TopicPartition(topic, Rule.integer(partition.get("id"))),
                    Optional.ofNullable(partition.get("leader")), Optional.ofNullable(epoch), List.of(), List.of(), List.of()));
            }
        }
        Set<String> none = Collections.emptySet();
        return viewClass.getConstructor(String.class, Map.class, Collection.class, Set.class, Set.class, Set.class, Node.class, Map.class)
            .newInstance("cluster", view.nodes, described, none, none, none, null, Collections.emptyMap());
    }

    public Object append(String topic, int partition, long timestamp, byte[] key, byte[] value, List<?> headers, View view)
        throws Exception {
        return append(topic, partition, timestamp, key, value, headers, view, callbacks);
    }

    /** What the record's fate is told to: a Callback, since 3.3.0 an AppendCallbacks. */
    public Object told(BiConsumer<Object, Exception> fate) {
        Class<?> type = choosesPartitions ? nested("AppendCallbacks") : Callback.class;
        return proxy(type, (self, method, arguments) -> {
            if (method.getName().equals("onCompletion")) {
                fate.accept(arguments[0], (Exception) arguments[1]);
            }
            return null;
        });
    }

    public Object append(
        String topic, int partition, long timestamp, byte[] key, byte[] value, List<?> headers, View view, Object told
    ) throws Exception {
        appendedTo = partition;
        codec.meet(topic);
        List<Long> longs = new ArrayList<>(List.of(timestamp, 0L, now)); // blocking for no time at all
        List<byte[]> fields = new ArrayList<>(Arrays.asList(key, value));
        Class<?>[] types = append.getParameterTypes();
        Object[] arguments = new Object[types.length];
        for (int i = 0; i < types.length; i++) {
            Class<?> type = types[i];
            arguments[i] = type == TopicPartition.class ? new TopicPartition(topic, partition)
                : type == String.class ? topic
                : type == int.class ? (Object) partition
                : type == long.class ? (Object) longs.remove(0)
                : type == byte[].class ? fields.remove(0)
                : type == boolean.class ? (Object) false
                : type == Cluster.class ? view.cluster
                : type.isArray() ? RecordHeaders.from(headers, type.getComponentType())
                : type.isInstance(told) ? told
                : null;
        }
        return Rule.kafka(() -> append.invoke(accumulator, arguments));
    }

    public boolean isFull(Object result) throws IllegalAccessException {
        return isFull.getBoolean(result);
    }

    public boolean isNew(Object result) throws IllegalAccessException {
        return isNew.getBoolean(result);
    }

    public Object bytesAppended(Object result) throws IllegalAccessException {
        return appendedBytes == null ? null : appendedBytes.get(result);
    }

    public Map<String, Object> ready(View view) throws Exception {
        Object result = Rule.kafka(() -> ready.invoke(accumulator, view.passed, now));
        Map<String, Object> answer = new HashMap<>();
        Set<Integer> nodes = new TreeSet<>();
        for (Object node : (Set<?>) field(result.getClass(), "readyNodes").get(result)) {
            nodes.add(((Node) node).id());
        }
        long delay = field(result.getClass(), "nextReadyCheckDelayMs").getLong(result);
        Field unknown = field(result.getClass(), "unknownLeaderTopics");
        answer.put("nodes", nodes);
        answer.put("delay_ms", delay == Long.MAX_VALUE ? null : delay);
        answer.put("unknown_leader_topics", unknown == null
            ? field(result.getClass(), "unknownLeadersExist").get(result)
            : new TreeSet<>((Set<?>) unknown.get(result)));
        return answer;
    }

    @SuppressWarnings("unchecked")
    public Map<Integer, ? extends List<?>> drain(View view, Set<Node> nodes, int maxSize) throws Exception {
        return (Map<Integer, ? extends List<?>>) Rule.kafka(() -> drain.invoke(accumulator, view.passed, nodes, maxSize, now));
    }

    public Deque<?> deque(TopicPartition of) throws Exception {
        return (Deque<?>) getDeque.invoke(accumulator, of);
    }

    public TopicPartition of(Object batch) throws IllegalAccessException {
        return (TopicPartition) topicPartition.get(batch);
    }

    public int records(Object batch) throws IllegalAccessException {
        return recordCount.getInt(batch);
    }

    public boolean isQueued(Object batch) throws Exception {
        Deque<?> queue = deque(of(batch));
        return queue != null && queue.contains(batch);
    }

    /** Bytes of a batch as it stands; 0.10 keeps its records in a public field. */
    public Object size(Object batch) throws Exception {
        if (size != null) {
            return size.invoke(batch);
        }
        Object records = field(batchClass, "records").get(batch);
        return declared(records.getClass(), "sizeInBytes").invoke(records);
    }

    public void setInFlight(Object batch, boolean to) throws Exception {
        if (setInFlight != null) {
            setInFlight.invoke(batch, to);
        }
    }

    public boolean isInFlight(Object batch) throws Exception {
        return isInFlight != null && (Boolean) isInFlight.invoke(batch);
    }

    public void reenqueue(Object batch) throws Exception {
        Method reenqueue = declared(ACCUMULATOR, "reenqueue");
        Rule.kafka(() -> reenqueue.invoke(accumulator, batch, now));
    }

    public Deque<?> split(Object batch) throws Exception {
        Object built = Rule.kafka(() -> records.invoke(batch));
        codec.makeReadable(batch, built);
        Method split = declared(ACCUMULATOR, "splitAndReenqueue");
        Rule.kafka(() -> split.invoke(accumulator, batch));
        return deque(of(batch));
    }

    public void release(Object batch, boolean memoryOnly) throws Exception {
        Method method = memoryOnly ? deallocate : release;
        Rule.kafka(() -> method.invoke(accumulator, batch));
    }

    public boolean inRetry(Object batch) throws Exception {
        Method inRetry = declared(batchClass, "inRetry");
        return (Boolean) inRetry.invoke(batch);
    }

    public void latency(int node, boolean canDrain) throws Exception {
        if (latency != null) {
            Rule.kafka(() -> latency.invoke(accumulator, node, now, canDrain));
        }
    }

    public void mute(TopicPartition partition) throws Exception {
        Method mute = declared(ACCUMULATOR, "mutePartition");
        Rule.kafka(() -> mute.invoke(accumulator, partition));
    }

    public void unmute(TopicPartition partition, long throttleMs) throws Exception {
        Rule.kafka(() -> unmute.getParameterCount() == 2
            ? unmute.invoke(accumulator, partition, now + throttleMs)
            : unmute.invoke(accumulator, partition));
    }

    public List<?> expire() throws Exception {
        if (resetNextExpiry != null) {
            resetNextExpiry.invoke(accumulator);
        }
        return (List<?>) Rule.kafka(() -> expired.getParameterCount() == 2
            ? expired.invoke(accumulator, requestTimeout, now)
            : expired.invoke(accumulator, now));
    }

    public Object nextExpiry() throws Exception {
        Object at = nextExpiry == null ? null : nextExpiry.invoke(accumulator);
        return at == null || (Long) at == Long.MAX_VALUE ? null : at;
    }

    public Map<String, Object> load(String topic) throws Exception {
        Object info = topicInfo == null ? null : ((Map<?, ?>) topicInfo.get(accumulator)).get(topic);
        if (info == null) {
            return null;
        }
        Object partitioner = field(info.getClass(), "builtInPartitioner").get(info);
        Field direct = field(partitioner.getClass(), "partitionLoadStats");
        Object held = direct != null ? direct.get(partitioner) : field(partitioner.getClass(), "partitionLoadStatsHolder").get(partitioner);
        Object stats = direct != null || held == null ? held : field(held.getClass(), "total").get(held);
        if (stats == null) {
            return null;
        }
        int length = field(stats.getClass(), "length").getInt(stats);
        int[] table = Arrays.copyOf((int[]) field(stats.getClass(), "cumulativeFrequencyTable").get(stats), length);
        int[] partitions = Arrays.copyOf((int[]) field(stats.getClass(), "partitionIds").get(stats), length);
        return Map.of("range_end", table[length - 1], "partition_ids", partitions, "cumulative", table);
    }

    /** So many threads wait for memory: their conditions are in the pool's queue, as if they had been put there by it. */
    @SuppressWarnings("unchecked")
    public void block(int threads) throws Exception {
        Deque<Condition> waiters = (Deque<Condition>) field(BufferPool.class, "waiters").get(pool);
        ReentrantLock lock = (ReentrantLock) field(BufferPool.class, "lock").get(pool);
        waiters.clear();
        for (int i = 0; i < threads; i++) {
            waiters.add(lock.newCondition());
        }
    }

    public Object memory() {
        return pool.availableMemory();
    }

    public boolean isFlushing() throws Exception {
        return (Boolean) flushing.invoke(accumulator);
    }

    public boolean hasUndrained() throws Exception {
        return (Boolean) Rule.kafka(() -> undrained.invoke(accumulator));
    }

    public void call(String method) throws Exception {
        Method found = declared(ACCUMULATOR, method);
        Rule.kafka(() -> found.invoke(accumulator));
    }

    /** The method that aborts all batches, or, from 0.11 on, those not drained yet. */
    public Method aborting(boolean all) {
        return declared(ACCUMULATOR, all ? "abortIncompleteBatches" : "abortUndrainedBatches");
    }

    public void abort(Method abort) throws Exception {
        Object[] arguments = abort.getParameterCount() == 0 ? new Object[0] : new Object[] {new RuntimeException("aborted")};
        Rule.kafka(() -> abort.invoke(accumulator, arguments));
    }

    public Set<Object> incomplete() throws Exception {
        Object all = incomplete.get(accumulator);
        Method copy = declared(all.getClass(), "copyAll") != null ? declared(all.getClass(), "copyAll") : declared(all.getClass(), "all");
        Set<Object> found = new HashSet<>();
        ((Iterable<?>) copy.invoke(all)).forEach(found::add);
        return found;
    }

    public Map<TopicPartition, Deque<?>> queues() throws Exception {
        Map<TopicPartition, Deque<?>> found = new HashMap<>();
        if (topicInfo == null) {
            ((Map<?, ?>) field(ACCUMULATOR, "batches").get(accumulator)).forEach((of, queue) -> found.put((TopicPartition) of, (Deque<?>) queue));
            return found;
        }
        for (Map.Entry<?, ?> topic : ((Map<?, ?>) topicInfo.get(accumulator)).entrySet()) {
            Map<?, ?> queues = (Map<?, ?>) field(topic.getValue().getClass(), "batches").get(topic.getValue());
            queues.forEach((of, queue) -> found.put(new TopicPartition((String) topic.getKey(), (Integer) of), (Deque<?>) queue));
        }
        return found;
    }

    private static long number(Map<String, Object> config, String name) {
        return ((Number) config.get(name)).longValue();
    }

    public static Object proxy(Class<?> of, InvocationHandler handler) {
        return Proxy.newProxyInstance(of.getClassLoader(), new Class<?>[] {of}, handler);
    }

    private static Class<?> nested(String name) {
        return Arrays.stream(ACCUMULATOR.getDeclaredClasses()).filter(one -> one.getSimpleName().equals(name)).findFirst().orElse(null);
    }

    private static Field resultField(String name) {
        return field(nested("RecordAppendResult"), name);
    }

    private static Method first(String name, String otherwise) {
        Method found = declared(ACCUMULATOR, name);
        return found != null ? found : declared(ACCUMULATOR, otherwise);
    }

    private static final Map<Class<?>, Map<String, Optional<Method>>> METHODS = new HashMap<>();
    private static final Map<Class<?>, Map<String, Optional<Field>>> FIELDS = new HashMap<>();

    /** The method of this name, its own or inherited, whoever may call it; null if there is none. */
    public static Method declared(Class<?> of, String name) {
        return METHODS.computeIfAbsent(of, one -> new HashMap<>()).computeIfAbsent(name, key -> {
            Optional<Method> found = Stream.<Class<?>>iterate(of, one -> one != null && one != Object.class, Class::getSuperclass)
                .flatMap(one -> Arrays.stream(one.getDeclaredMethods()))
                .filter(method -> method.getName().equals(name) && !method.isBridge()).findFirst();
            found.ifPresent(method -> method.setAccessible(true));
            return found;
        }).orElse(null);
    }

    public static Field field(Class<?> of, String name) {
        return FIELDS.computeIfAbsent(of, one -> new HashMap<>()).computeIfAbsent(name, key -> {
            Optional<Field> found = Arrays.stream(of.getDeclaredFields()).filter(one -> one.getName().equals(name)).findFirst();
            found.ifPresent(one -> one.setAccessible(true));
            return found;
        }).orElse(null);
    }
}
