package kafkaoracle.partition;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import kafkaoracle.reflection.Arguments;
import kafkaoracle.reflection.Members;
import org.apache.kafka.common.TopicIdPartition;
import org.apache.kafka.common.TopicPartition;

/**
 * Kafka's ReplicaManager as far as it serves produce requests: its constructor, which starts threads, does not run; its fields
 * get the parts of a broker.
 */
final class ProduceRequests {
    private static final long TIMEOUT_MS = 1000;

    private final PartitionParts parts;
    private final Object manager;
    private final Object queue;
    private final List<Object> responses = new ArrayList<>();
    private LivePartition live;
    private int requests;

    ProduceRequests(PartitionParts parts) throws Exception {
        this.parts = parts;
        Class<?> type = Class.forName("kafka.server.ReplicaManager");
        manager = bare(type);
        queue = Defaults.make(Members.type(
            "org.apache.kafka.server.DelayedActionQueue", "kafka.server.DelayedActionQueue", "kafka.server.ActionQueue"));
        for (Field field : type.getDeclaredFields()) {
            if (!Modifier.isStatic(field.getModifiers())) {
                Object value = value(field);
                if (value != null) {
                    field.setAccessible(true);
                    field.set(manager, value);
                }
            }
        }
    }

    private Object value(Field field) throws Exception {
        switch (field.getName()) {
            case "time":
                return parts.clock.time;
            case "metadataCache":
                return parts.metadata.cache;
            case "delayedProducePurgatory":
                return parts.purgatories.produce;
            case "allPartitions":
            case "brokerTopicStats":
                return Defaults.make(field.getType());
            case "defaultActionQueue":
            case "actionQueue":
                return queue;
            default:
                return field.getType() == Purgatories.purgatoryType() ? parts.purgatories.others : null;
        }
    }

    private static Object bare(Class<?> type) throws ReflectiveOperationException {
        Class<?> unsafe = Class.forName("sun.misc.Unsafe");
        Field field = unsafe.getDeclaredField("theUnsafe");
        field.setAccessible(true);
        return unsafe.getMethod("allocateInstance", Class.class).invoke(field.get(null), type);
    }

    void begin(LivePartition partition) throws Exception {
        live = partition;
        requests = 0;
        responses.clear();
        Class<?> online = Members.type("org.apache.kafka.server.HostedPartition$Online", "kafka.server.HostedPartition$Online");
        Object hosted = Members.constructor(online).newInstance(partition.partition);
        Members.call(Members.get(manager, "allPartitions"), "put", partition.topicPartition, hosted);
    }

    void end() throws Exception {
        Object partitions = Members.get(manager, "allPartitions");
        Members.method(partitions.getClass(), "remove", 1).invoke(partitions, live.topicPartition);
    }

    /** Handles a produce request, and the actions that it leaves, as KafkaApis does. */
    void produce(int acks, int records) throws Exception {
        int number = requests++;
        Method append = Members.method(manager.getClass(), "appendRecords");
        TopicPartition name = live.topicPartition;
        boolean byId = Arrays.toString(append.getGenericParameterTypes()).contains("TopicIdPartition");
        Object entry = byId ? new TopicIdPartition(PartitionParts.TOPIC_ID, name) : name;
        Class<?> function = Class.forName("scala.Function1");
        Function<Object, Object> callback = found -> respond(number, found);
        Object[] arguments = new Arguments().give(long.class, TIMEOUT_MS).give(short.class, (short) acks, (short) 0)
            .give(Class.forName("scala.collection.Map"), Scala.map(Map.of(entry, PartitionBatches.produced(records))), Scala.map(Map.of()))
            .give(function, Scala.function(function, callback), Scala.function(function, stats -> null))
            .match(append.getParameterTypes(), this::argument);
        append.invoke(manager, arguments);
        Members.call(manager, "tryCompleteActions");
    }

    private Object argument(Class<?> type) throws Exception {
        return type.isInstance(queue) ? queue : RequestParts.part(type);
    }

    private Object respond(int number, Object found) {
        try {
            Object response = Scala.javaMap(found).values().iterator().next();
            responses.add(List.of(number, Members.get(response, "error").toString(), Members.get(response, "baseOffset")));
            return null;
        } catch (ReflectiveOperationException fault) {
            throw new IllegalStateException(fault.toString(), fault);
        }
    }

    /** What a broker does with waiting requests once it follows. */
    void completeAsFollower() throws Exception {
        Method complete = Members.method(manager.getClass(), "completeDelayedOperationsWhenNotPartitionLeader");
        if (complete == null) {
            complete = Members.method(manager.getClass(), "completeDelayedFetchOrProduceRequests");
        }
        complete.invoke(manager, new Arguments().give(TopicPartition.class, live.topicPartition)
            .match(complete.getParameterTypes(), Defaults::make));
    }

    /** The responses since the last call: number of the request, error and base offset. */
    List<Object> take() {
        List<Object> taken = List.copyOf(responses);
        responses.clear();
        return taken;
    }
}
