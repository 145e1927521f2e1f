package kafkaoracle.partition;

import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import kafkaoracle.reflection.Arguments;
import kafkaoracle.reflection.Members;
import kafkaoracle.rule.Rule;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;

/** One kafka.cluster.Partition on broker 1, with Kafka's log, and the calls that a script makes. */
final class LivePartition {
    private static final int BROKER = 1;
    private static final int MAX_BYTES = 1 << 20;

    final TopicPartition topicPartition;
    final Object partition;
    private final Object checkpoints;

    LivePartition(TopicPartition topicPartition, long maxLagMs, long brokerEpoch, PartitionParts parts) throws Exception {
        this.topicPartition = topicPartition;
        Class<?> type = Class.forName("kafka.cluster.Partition");
        Constructor<?> constructor = Members.constructor(type);
        Arguments arguments = new Arguments().give(TopicPartition.class, topicPartition).give(long.class, maxLagMs)
            .give(int.class, BROKER).give(Class.forName("org.apache.kafka.common.utils.Time"), parts.clock.time);
        for (Class<?> parameter : constructor.getParameterTypes()) {
            Object part = parts.part(parameter, topicPartition, brokerEpoch);
            if (part != null) {
                arguments.give(parameter, part);
            }
        }
        partition = constructor.newInstance(arguments.match(constructor.getParameterTypes(), Defaults::make));
        checkpoints = Defaults.make(Members.type(
            "org.apache.kafka.storage.internals.checkpoint.OffsetCheckpoints", "kafka.server.checkpoints.OffsetCheckpoints"));
        Method create = Members.method(type, "createLogIfNotExists");
        create.invoke(partition, new Arguments().give(boolean.class, true, false)
            .match(create.getParameterTypes(), this::argument));
    }

    private Object argument(Class<?> type) throws Exception {
        return type.isInstance(checkpoints) ? checkpoints : Defaults.make(type);
    }

    Object log() throws Exception {
        return Scala.value(Members.call(partition, "log"));
    }

    /** Calls makeLeader or makeFollower with what the metadata say of the partition. */
    Object become(String role, Map<String, Object> step) throws Exception {
        Object record = Class.forName("org.apache.kafka.common.metadata.PartitionRecord").getConstructor().newInstance();
        List<?> replicas = integers(step.get("replicas"));
        Members.call(record, "setReplicas", replicas);
        Members.call(record, "setIsr", integers(step.get("in_sync")));
        Members.call(record, "setLeader", (int) Rule.number(step, "leader", BROKER));
        Members.call(record, "setLeaderEpoch", (int) Rule.number(step, "epoch", 0));
        Members.call(record, "setPartitionEpoch", (int) Rule.number(step, "partition_epoch", 0));
        if (Members.has(record, "setDirectories")) {
            Members.call(record, "setDirectories", replicas.stream().map(each -> new Uuid(0, 100)).toList());
        }
        Object registration = Class.forName("org.apache.kafka.metadata.PartitionRegistration")
            .getConstructor(record.getClass()).newInstance(record);
        Method become = Members.method(partition.getClass(), role);
        Object state = become.getParameterTypes()[0].isInstance(registration) ? registration
            : Members.call(registration, "toLeaderAndIsrPartitionState", topicPartition, false);
        Object[] arguments = new Arguments().give(state.getClass(), state).match(become.getParameterTypes(), this::argument);
        return Rule.kafka(() -> become.invoke(partition, arguments));
    }

    private static List<Integer> integers(Object numbers) {
        return ((List<?>) numbers).stream().map(each -> ((Number) each).intValue()).toList();
    }

    /** Appends a batch as the leader; returns the offset of its first record. */
    long append(int records, int acks) throws Exception {
        Method append = Members.method(partition.getClass(), "appendRecordsToLeader");
        Object batch = PartitionBatches.produced(records);
        Object[] arguments = new Arguments().give(Members.recordType("MemoryRecords"), batch).give(int.class, acks)
            .match(append.getParameterTypes(), RequestParts::part);
        Object info = Rule.kafka(() -> append.invoke(partition, arguments));
        Object first = Members.read(info, "firstOffset");
        return first instanceof Number offset ? offset.longValue()
            : (Long) Members.read(Scala.value(first), "messageOffset");
    }

    void appendAsFollower(List<?> batches) throws Exception {
        Method append = Members.method(partition.getClass(), "appendRecordsToFollowerOrFutureReplica");
        Object[] arguments = new Arguments().give(Members.recordType("MemoryRecords"), PartitionBatches.records(batches))
            .give(int.class, Members.call(partition, "getLeaderEpoch")).match(append.getParameterTypes(), Defaults::make);
        Rule.kafka(() -> append.invoke(partition, arguments));
    }

    /** Serves the fetch of a follower; returns the epoch and end offset from which on the logs differ, or null. */
    List<Object> fetch(Map<String, Object> step, long now) throws Exception {
        Object parameters = RequestParts.fetchParams((int) Rule.number(step, "replica", 0), Rule.number(step, "broker_epoch", -1));
        Object data = Class.forName("org.apache.kafka.common.requests.FetchRequest$PartitionData")
            .getConstructor(Uuid.class, long.class, long.class, int.class, Optional.class, Optional.class)
            .newInstance(Uuid.ZERO_UUID, Rule.number(step, "offset", 0), Rule.number(step, "log_start_offset", 0), MAX_BYTES,
                optional(step.get("leader_epoch")), optional(step.get("last_epoch")));
        Object read = Rule.kafka(partition, "fetchRecords", parameters, data, now, MAX_BYTES, true, true);
        Object diverging = Scala.value(Members.read(read, "divergingEpoch"));
        return diverging == null ? null : List.of(Members.call(diverging, "epoch"), Members.call(diverging, "endOffset"));
    }

    private static Optional<Integer> optional(Object number) {
        return Optional.ofNullable(number).map(each -> ((Number) each).intValue());
    }

    /** The largest epoch up to this one, and the offset at which it ends. */
    List<Object> epochEnd(int epoch) throws Exception {
        Object found = Rule.kafka(partition, "lastOffsetForLeaderEpoch", Optional.empty(), epoch, false);
        return List.of(Members.call(found, "leaderEpoch"), Members.call(found, "endOffset"));
    }

    /** What ReplicaFetcherThread does with the leader's high watermark: by another method up to 3.3.1. */
    void follow(long highWatermark) throws Exception {
        Object log = log();
        Method update = log.getClass().getMethod(
            Members.has(log, "maybeUpdateHighWatermark") ? "maybeUpdateHighWatermark" : "updateHighWatermark", long.class);
        Rule.kafka(() -> update.invoke(log, highWatermark));
    }

    void truncate(long offset) throws Exception {
        Rule.kafka(partition, "truncateTo", offset, false);
    }

    void setMinInSync(int replicas) throws Exception {
        Members.call(log(), "updateConfig", LogFolder.config(replicas));
    }

    Object replicaState(int broker) throws Exception {
        Object replica = Scala.value(Members.call(partition, "getReplica", broker));
        return replica == null ? null : Members.call(replica, "stateSnapshot");
    }

}
