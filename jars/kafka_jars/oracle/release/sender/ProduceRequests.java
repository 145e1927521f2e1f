package kafkaoracle.sender;

import java.lang.reflect.Field;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import kafkaoracle.accumulator.BatchAccess;
import kafkaoracle.reflection.Members;
import org.apache.kafka.clients.ClientRequest;
import org.apache.kafka.common.TopicPartition;

/** What a Sender's produce request holds. */
public final class ProduceRequests {
    private ProduceRequests() {
    }

    /** The batches of a produce request, in the order of partitions: its callback holds them. */
    @SuppressWarnings("unchecked")
    public static Map<TopicPartition, Object> batches(ClientRequest request) throws ReflectiveOperationException {
        Object callback = request.callback();
        for (Field field : callback.getClass().getDeclaredFields()) {
            field.setAccessible(true);
            if (field.get(callback) instanceof Map<?, ?> held && held.keySet().stream().anyMatch(TopicPartition.class::isInstance)) {
                Map<TopicPartition, Object> sorted = new TreeMap<>(Comparator.comparing(TopicPartition::partition));
                sorted.putAll((Map<TopicPartition, Object>) held);
                return sorted;
            }
        }
        throw new IllegalStateException("the callback of a produce request holds no batches");
    }

    /** What each batch of a produce request writes: its records, by the number with which their values begin, and its header. */
    public static List<Object> describe(ClientRequest request) throws ReflectiveOperationException {
        List<Object> found = new ArrayList<>();
        for (Map.Entry<TopicPartition, Object> entry : batches(request).entrySet()) {
            found.add(describe(entry.getKey().partition(), BatchAccess.records(entry.getValue())));
        }
        return found;
    }

    private static Map<String, Object> describe(int partition, Object records) throws ReflectiveOperationException {
        // Since 0.11 batches; before, messages with neither producer nor sequence, in 0.10.2 by a method.
        boolean hasBatches = Members.has(records, "batches");
        Object written = hasBatches ? ((Iterable<?>) Members.call(records, "batches")).iterator().next() : null;
        List<Integer> numbers = new ArrayList<>();
        Object messages = Members.has(records, "deepEntries") ? Members.call(records, "deepEntries") : records;
        for (Object record : (Iterable<?>) (hasBatches ? written : messages)) {
            Object message = hasBatches ? record : Members.call(record, "record");
            numbers.add(((ByteBuffer) Members.call(message, "value")).getInt());
        }
        Map<String, Object> answer = new HashMap<>();
        answer.put("partition", partition);
        answer.put("records", numbers);
        answer.put("producer_id", hasBatches ? Members.call(written, "producerId") : -1);
        answer.put("epoch", hasBatches ? Members.call(written, "producerEpoch") : -1);
        answer.put("sequence", hasBatches ? Members.call(written, "baseSequence") : -1);
        return answer;
    }
}
