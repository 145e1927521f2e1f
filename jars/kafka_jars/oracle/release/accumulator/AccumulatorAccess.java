package kafkaoracle.accumulator;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import kafkaoracle.cluster.ClusterView;
import kafkaoracle.reflection.Members;
import kafkaoracle.rule.Rule;
import kafkaoracle.sender.FilledMetadata;
import kafkaoracle.transactions.TransactionManagerAccess;
import org.apache.kafka.clients.Metadata;
import org.apache.kafka.clients.producer.internals.BufferPool;
import org.apache.kafka.clients.producer.internals.RecordAccumulator;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicPartition;

/** RecordAccumulator as this release has it: most of its methods are package-private, and many took other arguments once. */
public final class AccumulatorAccess {
    private static final Class<?> TYPE = RecordAccumulator.class;
    private static final Method READY = Members.method(TYPE, "ready");

    public final boolean splits = Members.method(TYPE, "splitAndReenqueue") != null;
    public final boolean expiresInFlight = Members.method(TYPE, "resetNextBatchExpiryTime") != null;
    /** Whether a batch that expires is completed by the accumulator itself. */
    public final boolean completesExpired = Members.method(TYPE, "abortExpiredBatches") != null;

    public final SteppedClock clock = new SteppedClock();
    public final CodecStandIn codec = new CodecStandIn();
    public final AccumulatorChoice choice = new AccumulatorChoice();
    public final RecordAppend appends = new RecordAppend();

    public RecordAccumulator accumulator;
    /** Null without idempotence, or in a release without it. */
    public TransactionManagerAccess transactions;
    public int requestTimeoutMs;

    public AccumulatorAccess() throws ReflectiveOperationException {
    }

    public void begin(Map<String, Object> config) throws Exception {
        clock.now = 0;
        requestTimeoutMs = Rule.integer(config.get("delivery_timeout_ms"));
        codec.begin(config);
        transactions = TransactionManagerAccess.create(choice.constructor(), (Map<?, ?>) config.get("producer"));
        accumulator = AccumulatorFactory.create(choice, config, clock, codec, transactions == null ? null : transactions.manager);
    }

    public ClusterView view(Object described, List<?> epochs, Collection<String> topics) throws Exception {
        Class<?> type = READY.getParameterTypes()[0];
        if (type != Metadata.class) {
            return new ClusterView(described, epochs, topics, type);
        }
        ClusterView view = new ClusterView(described, epochs, topics, Members.field(type, "cache").getType());
        return view.heldBy(FilledMetadata.create(type, clock, view));
    }

    public Object append(
        TopicPartition to, long timestamp, byte[] key, byte[] value, List<?> headers, ClusterView view, Object callback
    ) throws Exception {
        codec.use(to.topic());
        return appends.append(accumulator, view, clock.now, to, timestamp, key, value, headers, callback);
    }

    public Map<String, Object> ready(ClusterView view) throws Exception {
        Object result = call("ready", view.passed, clock.now);
        Set<Integer> nodes = new TreeSet<>();
        for (Object node : (Set<?>) Members.get(result, "readyNodes")) {
            nodes.add(((Node) node).id());
        }
        long delay = (Long) Members.get(result, "nextReadyCheckDelayMs");
        boolean namesTopics = Members.field(result.getClass(), "unknownLeaderTopics") != null;
        Map<String, Object> answer = new HashMap<>();
        answer.put("nodes", nodes);
        answer.put("delay_ms", delay == Long.MAX_VALUE ? null : delay);
        answer.put("unknown_leader_topics", namesTopics
            ? new TreeSet<>((Set<?>) Members.get(result, "unknownLeaderTopics")) : Members.get(result, "unknownLeadersExist"));
        return answer;
    }

    @SuppressWarnings("unchecked")
    public Map<Integer, ? extends List<?>> drain(ClusterView view, Set<Node> nodes, int maxSize) throws Exception {
        return (Map<Integer, ? extends List<?>>) call("drain", view.passed, nodes, maxSize, clock.now);
    }

    public Deque<?> deque(TopicPartition topicPartition) throws ReflectiveOperationException {
        return (Deque<?>) Members.call(accumulator, "getDeque", topicPartition);
    }

    public boolean isQueued(Object batch) throws ReflectiveOperationException {
        Deque<?> queue = deque(BatchAccess.topicPartition(batch));
        return queue != null && queue.contains(batch);
    }

    public void reenqueue(Object batch) throws Exception {
        call("reenqueue", batch, clock.now);
    }

    public Deque<?> split(Object batch) throws Exception {
        Object built = Rule.kafka(batch, "records");
        codec.makeReadable(batch, built);
        call("splitAndReenqueue", batch);
        return deque(BatchAccess.topicPartition(batch));
    }

    /** Gives back the batch's memory, and unless {@code memoryOnly} completes it, where that is a separate step. */
    public void release(Object batch, boolean memoryOnly) throws Exception {
        boolean completes = !memoryOnly && Members.has(accumulator, "completeAndDeallocateBatch");
        call(completes ? "completeAndDeallocateBatch" : "deallocate", batch);
    }

    /** Since 3.3.0. */
    public void updateLatency(int node, boolean canDrain) throws Exception {
        if (Members.has(accumulator, "updateNodeLatencyStats")) {
            call("updateNodeLatencyStats", node, clock.now, canDrain);
        }
    }

    public void unmute(TopicPartition partition, long throttleMs) throws Exception {
        if (Members.method(TYPE, "unmutePartition").getParameterCount() == 2) {
            call("unmutePartition", partition, clock.now + throttleMs);
        } else {
            call("unmutePartition", partition);
        }
    }

    public List<?> expire() throws Exception {
        if (expiresInFlight) {
            Members.call(accumulator, "resetNextBatchExpiryTime");
        }
        String name = completesExpired ? "abortExpiredBatches" : "expiredBatches";
        return (List<?>) (Members.method(TYPE, name).getParameterCount() == 2
            ? call(name, requestTimeoutMs, clock.now) : call(name, clock.now));
    }

    public Object nextExpiry() throws ReflectiveOperationException {
        Object next = Members.has(accumulator, "nextExpiryTimeMs") ? Members.call(accumulator, "nextExpiryTimeMs") : null;
        return next == null || (Long) next == Long.MAX_VALUE ? null : next;
    }

    /** The load statistics of a topic's partitioner, or null. */
    public Map<String, Object> load(String topic) throws ReflectiveOperationException {
        Object info = keepsTopics() ? topics().get(topic) : null;
        return info == null ? null : PartitionLoad.describe(info);
    }

    /** Makes it look as if as many threads waited for memory: their conditions are in the queue of the BufferPool. */
    @SuppressWarnings("unchecked")
    public void block(int threads) throws ReflectiveOperationException {
        Deque<Condition> waiters = (Deque<Condition>) Members.get(pool(), "waiters");
        ReentrantLock lock = (ReentrantLock) Members.get(pool(), "lock");
        waiters.clear();
        for (int i = 0; i < threads; i++) {
            waiters.add(lock.newCondition());
        }
    }

    public Object memory() throws ReflectiveOperationException {
        return pool().availableMemory();
    }

    private BufferPool pool() throws ReflectiveOperationException {
        return (BufferPool) Members.get(accumulator, "free");
    }

    public boolean hasUndrained() throws Exception {
        return (Boolean) call(Members.has(accumulator, "hasUndrained") ? "hasUndrained" : "hasUnsent");
    }

    /** Calls a method of the accumulator; what it throws is the answer. */
    public Object call(String name, Object... arguments) throws Exception {
        return Rule.kafka(accumulator, name, arguments);
    }

    /** Aborts all batches, or those that were not drained; returns false in a release that cannot. */
    public boolean abort(boolean all) throws Exception {
        Method abort = Members.method(TYPE, all ? "abortIncompleteBatches" : "abortUndrainedBatches");
        if (abort != null) {
            Object[] reasons = {new RuntimeException("aborted")};
            call(abort.getName(), Arrays.copyOf(reasons, abort.getParameterCount()));
        }
        return abort != null;
    }

    public Set<Object> incomplete() throws ReflectiveOperationException {
        Object all = Members.get(accumulator, "incomplete");
        Set<Object> found = new HashSet<>();
        ((Iterable<?>) Members.call(all, Members.has(all, "copyAll") ? "copyAll" : "all")).forEach(found::add);
        return found;
    }

    public Map<TopicPartition, Deque<?>> queues() throws ReflectiveOperationException {
        Map<TopicPartition, Deque<?>> found = new HashMap<>();
        if (!keepsTopics()) {
            Map<?, ?> queues = (Map<?, ?>) Members.get(accumulator, "batches");
            queues.forEach((topicPartition, queue) -> found.put((TopicPartition) topicPartition, (Deque<?>) queue));
            return found;
        }
        for (Map.Entry<?, ?> topic : topics().entrySet()) {
            Map<?, ?> queues = (Map<?, ?>) Members.get(topic.getValue(), "batches");
            queues.forEach((id, queue) -> found.put(new TopicPartition((String) topic.getKey(), (Integer) id), (Deque<?>) queue));
        }
        return found;
    }

    /** Since 3.3.0 queues are kept by topic, together with the topic's partitioner. */
    private static boolean keepsTopics() {
        return Members.field(TYPE, "topicInfoMap") != null;
    }

    private Map<?, ?> topics() throws ReflectiveOperationException {
        return (Map<?, ?>) Members.get(accumulator, "topicInfoMap");
    }
}
