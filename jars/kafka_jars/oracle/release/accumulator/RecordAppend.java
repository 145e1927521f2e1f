package kafkaoracle.accumulator;

import java.lang.reflect.Array;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import kafkaoracle.cluster.ClusterView;
import kafkaoracle.reflection.Arguments;
import kafkaoracle.reflection.Members;
import kafkaoracle.rule.Rule;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.internals.RecordAccumulator;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.TopicPartition;

/** RecordAccumulator.append, whose parameters changed from release to release; it never blocks here. */
public final class RecordAppend {
    /** AppendCallbacks, since 3.3.0, where the accumulator chooses the partition of a record that has none. */
    private static final Class<?> CALLBACKS = Members.nestedType(RecordAccumulator.class, "AppendCallbacks");
    private static final Method APPEND = Members.method(RecordAccumulator.class, "append");

    public static final boolean CHOOSES_PARTITION = CALLBACKS != null;

    /** The partition of the last record that was appended. */
    public int partition;

    private final Object partitionCallback = CHOOSES_PARTITION ? Members.proxy(CALLBACKS, (self, method, arguments) -> {
        if (method.getName().equals("setPartition")) {
            partition = (Integer) arguments[0];
        }
        return null;
    }) : null;

    /** A callback that receives how the record ends: a RecordMetadata or an exception. */
    public static Object callback(BiConsumer<Object, Exception> completion) {
        return Members.proxy(CHOOSES_PARTITION ? CALLBACKS : Callback.class, (self, method, arguments) -> {
            if (method.getName().equals("onCompletion")) {
                completion.accept(arguments[0], (Exception) arguments[1]);
            }
            return null;
        });
    }

    /** Appends a record and returns Kafka's RecordAppendResult; without a {@code callback} it notes the {@link #partition}. */
    Object append(
        RecordAccumulator accumulator, ClusterView view, long now, TopicPartition to, long timestamp,
        byte[] key, byte[] value, List<?> headers, Object callback
    ) throws Exception {
        partition = to.partition();
        Object used = callback == null ? partitionCallback : callback;
        Object[] arguments = new Arguments()
            .giveAll(TopicPartition.class, to).giveAll(String.class, to.topic()).giveAll(int.class, to.partition())
            .give(long.class, timestamp, 0L, now) // 0: how long it may block
            .give(byte[].class, key, value).giveAll(boolean.class, false).giveAll(Cluster.class, view.cluster)
            .match(APPEND.getParameterTypes(), type -> type.isArray() ? headers(headers, type.getComponentType())
                : type.isInstance(used) ? used : null);
        return Rule.kafka(() -> APPEND.invoke(accumulator, arguments));
    }

    /** The answer's form of a RecordAppendResult. */
    public Map<String, Object> describe(Object result) throws ReflectiveOperationException {
        Map<String, Object> answer = new HashMap<>();
        answer.put("partition", partition);
        answer.put("batch_full", Members.get(result, "batchIsFull"));
        answer.put("new_batch", Members.get(result, "newBatchCreated"));
        boolean countsBytes = Members.field(result.getClass(), "appendedBytes") != null;
        answer.put("bytes", countsBytes ? Members.get(result, "appendedBytes") : null);
        return answer;
    }

    /** Headers exist since 0.11.0.0, so they are named by reflection. */
    private static Object headers(List<?> described, Class<?> header) throws ReflectiveOperationException {
        Object found = Array.newInstance(header, described.size());
        Constructor<?> constructor = Class.forName(header.getPackageName() + ".internals.RecordHeader")
            .getConstructor(String.class, byte[].class);
        for (int place = 0; place < described.size(); place++) {
            List<?> pair = (List<?>) described.get(place);
            Array.set(found, place, constructor.newInstance(pair.get(0), Rule.bytes(pair.get(1))));
        }
        return found;
    }
}
