package kafkaoracle.sender;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import kafkaoracle.reflection.Members;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.protocol.Errors;

/** The brokers' responses: made of generated messages in the releases that have these, before of maps and numbers. */
public final class Responses {
    /** A partition of a produce response: an error, the offset of the first record, and where the log begins. */
    public record Partition(Errors error, long baseOffset, long logStartOffset) {
    }

    private static final String MESSAGES = "org.apache.kafka.common.message.";
    private static final String RESPONSES = "org.apache.kafka.common.requests.";

    private Responses() {
    }

    public static Object produce(String topicName, Map<TopicPartition, Partition> partitions) throws ReflectiveOperationException {
        Class<?> response = Class.forName(RESPONSES + "ProduceResponse");
        if (!takesMessage(response)) {
            return produceOfMap(response, partitions);
        }
        String data = MESSAGES + "ProduceResponseData";
        List<Object> described = new ArrayList<>();
        for (Map.Entry<TopicPartition, Partition> entry : partitions.entrySet()) {
            Object partition = Class.forName(data + "$PartitionProduceResponse").getConstructor().newInstance();
            Members.call(partition, "setIndex", entry.getKey().partition());
            Members.call(partition, "setErrorCode", entry.getValue().error().code());
            Members.call(partition, "setBaseOffset", entry.getValue().baseOffset());
            Members.call(partition, "setLogStartOffset", entry.getValue().logStartOffset());
            described.add(partition);
        }
        Object topic = Class.forName(data + "$TopicProduceResponse").getConstructor().newInstance();
        Members.call(topic, "setName", topicName);
        Members.call(topic, "setPartitionResponses", described);
        Object message = Class.forName(data).getConstructor().newInstance();
        @SuppressWarnings("unchecked")
        Collection<Object> topics = (Collection<Object>) Members.call(message, "responses");
        topics.add(topic);
        return response.getConstructor(message.getClass()).newInstance(message);
    }

    private static Object produceOfMap(Class<?> response, Map<TopicPartition, Partition> partitions)
        throws ReflectiveOperationException {
        Class<?> type = Class.forName(RESPONSES + "ProduceResponse$PartitionResponse");
        boolean takesError = Arrays.stream(type.getConstructors()).anyMatch(each -> each.getParameterTypes()[0] == Errors.class);
        Map<TopicPartition, Object> byPartition = new LinkedHashMap<>();
        for (Map.Entry<TopicPartition, Partition> entry : partitions.entrySet()) {
            byPartition.put(entry.getKey(), partition(type, takesError, entry.getValue()));
        }
        return takesError
            ? response.getConstructor(Map.class).newInstance(byPartition)
            : response.getConstructor(Map.class, int.class).newInstance(byPartition, 0);
    }

    /** 0.11 has no beginning of the log, 0.10 takes the error's number. */
    private static Object partition(Class<?> type, boolean takesError, Partition answer) throws ReflectiveOperationException {
        Object error = takesError ? answer.error() : (Object) answer.error().code();
        Class<?> typeOfError = takesError ? Errors.class : short.class;
        try {
            return type.getConstructor(typeOfError, long.class, long.class, long.class)
                .newInstance(error, answer.baseOffset(), -1L, answer.logStartOffset());
        } catch (NoSuchMethodException older) {
            return type.getConstructor(typeOfError, long.class, long.class).newInstance(error, answer.baseOffset(), -1L);
        }
    }

    public static Object producerId(Errors error, long id, short epoch) throws ReflectiveOperationException {
        Class<?> response = Class.forName(RESPONSES + "InitProducerIdResponse");
        if (!takesMessage(response)) {
            return response.getConstructor(int.class, Errors.class, long.class, short.class).newInstance(0, error, id, epoch);
        }
        Object message = Class.forName(MESSAGES + "InitProducerIdResponseData").getConstructor().newInstance();
        Members.call(message, "setErrorCode", error.code());
        Members.call(message, "setProducerId", id);
        Members.call(message, "setProducerEpoch", epoch);
        return response.getConstructor(message.getClass()).newInstance(message);
    }

    private static boolean takesMessage(Class<?> response) {
        return Arrays.stream(response.getConstructors()).anyMatch(each ->
            each.getParameterCount() == 1 && each.getParameterTypes()[0].getName().startsWith(MESSAGES));
    }
}
