package kafkaoracle.record_accumulator;

import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import kafkaoracle.accumulator.AccumulatorAccess;
import kafkaoracle.accumulator.BatchAccess;
import kafkaoracle.cluster.ClusterView;
import kafkaoracle.reflection.Arguments;
import kafkaoracle.reflection.Members;
import kafkaoracle.rule.Rule;
import kafkaoracle.sender.SenderAccess;
import kafkaoracle.sender.SenderNetwork;
import org.apache.kafka.clients.producer.internals.Sender;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.protocol.Errors;

/** How batches end: by a real Sender before this accumulator and this transaction manager. */
final class SenderCalls {
    private static final Method COMPLETE = Members.method(Sender.class, "completeBatch");

    private final AccumulatorAccess kafka;
    private final Object sender;

    SenderCalls(AccumulatorAccess kafka, ClusterView view) throws Exception {
        this.kafka = kafka;
        Map<String, Object> config = Map.of("acks", "all", "retries", 0, "request_timeout_ms", 0, "max_in_flight", 2);
        sender = Members.get(new SenderAccess(kafka, view, new SenderNetwork(kafka.clock, 0, 2, sent -> null), config), "sender");
    }

    /** Ends a batch; {@code failure} is null if it was acknowledged, or why it failed: exhausted, refused or expired. */
    void end(Object batch, String failure) throws Exception {
        if (failure == null) {
            answer(batch, Errors.NONE, 0);
        } else if (failure.equals("refused")) { // by an error that is not retriable
            answer(batch, Errors.RECORD_LIST_TOO_LARGE, Integer.MAX_VALUE);
        } else if (failure.equals("exhausted")) {
            answer(batch, Errors.REQUEST_TIMED_OUT, 0);
        } else {
            expire(batch);
        }
    }

    /** Handles what a produce response holds for this batch's partition. */
    private void answer(Object batch, Errors error, int retries) throws Exception {
        Members.set(sender, "retries", retries);
        Object[] arguments = new Arguments()
            .giveAll(Errors.class, error).giveAll(long.class, -1L).giveAll(Map.class, Map.of())
            .match(COMPLETE.getParameterTypes(), type -> type.isInstance(batch) ? batch : partitionResponse(type, error));
        Rule.kafka(() -> COMPLETE.invoke(sender, arguments));
    }

    private static Object partitionResponse(Class<?> type, Errors error) throws Exception {
        Constructor<?> constructor = Members.constructor(type);
        return constructor.newInstance(new Arguments()
            .giveAll(Errors.class, error).giveAll(short.class, error.code()).giveAll(long.class, -1L).giveAll(List.class, List.of())
            .match(constructor.getParameterTypes(), other -> null));
    }

    /**
     * Runs a round of the Sender at the end of time, in which this is the only batch: the queues are set aside. It is among
     * those in flight, up to 2.0 in the queue of a partition without a leader.
     */
    @SuppressWarnings("unchecked")
    private void expire(Object batch) throws Exception {
        String field = Members.field(kafka.accumulator.getClass(), "topicInfoMap") == null ? "batches" : "topicInfoMap";
        Object queues = Members.get(kafka.accumulator, field);
        Members.set(kafka.accumulator, field, queues.getClass().getConstructor().newInstance());
        try {
            if (kafka.expiresInFlight) {
                ((Map<Object, Object>) Members.get(sender, "inFlightBatches"))
                    .put(BatchAccess.topicPartition(batch), new ArrayList<>(List.of(batch)));
            } else {
                ((Deque<Object>) Members.call(kafka.accumulator, "getOrCreateDeque", new TopicPartition("expired", 0))).add(batch);
            }
            Rule.kafka(sender, "sendProducerData", Long.MAX_VALUE / 2);
        } finally {
            Members.set(kafka.accumulator, field, queues);
        }
        if (Members.has(sender, "maybeRemoveAndDeallocateBatchLater")) { // its memory is kept until it is answered
            answer(batch, Errors.REQUEST_TIMED_OUT, 0);
        }
    }
}
