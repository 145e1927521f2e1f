package kafkaoracle.record_accumulator;

import java.lang.reflect.Constructor;
import java.util.Arrays;
import java.util.Map;
import kafkaoracle.accumulator.BatchAccess;
import kafkaoracle.reflection.Members;
import kafkaoracle.transactions.TransactionManagerAccess;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TimeoutException;

/**
 * The calls by which Sender reports to the TransactionManager how a batch ended: up to 2.2 a few, made here one by one;
 * since 2.3 handleCompletedBatch or handleFailedBatch. This is logic of ours, not Kafka's.
 */
final class SenderCalls {
    private final TransactionManagerAccess transactions;

    SenderCalls(TransactionManagerAccess transactions) {
        this.transactions = transactions;
    }

    /** Sets another id or epoch; a release that loses all sequences with an id loses them here. */
    void setProducer(Object id, Object epoch) throws ReflectiveOperationException {
        if (transactions.has("resetProducerId")) {
            Members.call(transactions.manager, "resetProducerId");
        }
        transactions.setProducer(id, epoch);
    }

    /** Adds the sequence and the epoch that a drained batch writes. */
    void describe(Object batch, Map<String, Object> answer) throws ReflectiveOperationException {
        Object written = ((Iterable<?>) Members.call(BatchAccess.records(batch), "batches")).iterator().next();
        answer.put("sequence", Members.call(written, "baseSequence"));
        answer.put("epoch", Members.call(written, "producerEpoch"));
    }

    /** {@code failure} is null, "refused", "expired" or anything else. */
    void settle(Object batch, String failure) throws Exception {
        TopicPartition topicPartition = BatchAccess.topicPartition(batch);
        if (failure == null) {
            complete(batch, topicPartition, BatchAccess.recordCount(batch));
            return;
        }
        fail(batch, failure.equals("refused"));
        if (failure.equals("expired") && (Boolean) Members.call(batch, "inRetry")) {
            markUnresolved(batch, topicPartition);
        }
    }

    private void complete(Object batch, TopicPartition topicPartition, int records) throws Exception {
        if (transactions.has("handleCompletedBatch")) {
            Class<?> response = Members.method(transactions.manager.getClass(), "handleCompletedBatch").getParameterTypes()[1];
            transactions.call("handleCompletedBatch", batch, withoutError(response));
            return;
        }
        boolean isCurrent = (Boolean) Members.call(transactions.manager, "hasProducerIdAndEpoch",
            Members.call(batch, "producerId"), Members.call(batch, "producerEpoch"));
        if (isCurrent && !transactions.tracksBatches) {
            transactions.call("incrementSequenceNumber", topicPartition, records);
        } else if (isCurrent) {
            int last = (Integer) Members.call(batch, "baseSequence") + records - 1;
            transactions.call("maybeUpdateLastAckedSequence", topicPartition, last);
        }
        removeInFlight(batch);
    }

    private static Object withoutError(Class<?> response) throws ReflectiveOperationException {
        Constructor<?> made = Arrays.stream(response.getConstructors())
            .filter(each -> each.getParameterCount() == 1).findFirst().orElseThrow();
        return made.newInstance(made.getParameterTypes()[0].getField("NONE").get(null));
    }

    private void fail(Object batch, boolean adjustsSequences) throws Exception {
        if (transactions.has("handleFailedBatch")) {
            transactions.call("handleFailedBatch", batch, new TimeoutException("failed"), adjustsSequences);
            return;
        }
        removeInFlight(batch);
        if (transactions.tracksBatches && adjustsSequences) {
            transactions.call("adjustSequencesDueToFailedBatch", batch);
        }
    }

    /** Of a batch that expired after it had been sent again it is unknown whether it arrived. */
    private void markUnresolved(Object batch, TopicPartition topicPartition) throws Exception {
        if (!transactions.has("markSequenceUnresolved")) {
            transactions.call("resetProducerId");
            return;
        }
        Class<?> type = Members.method(transactions.manager.getClass(), "markSequenceUnresolved").getParameterTypes()[0];
        transactions.call("markSequenceUnresolved", type == TopicPartition.class ? topicPartition : batch);
    }

    void removeInFlight(Object batch) throws Exception {
        if (transactions.has("removeInFlightBatch")) {
            transactions.call("removeInFlightBatch", batch);
        }
    }
}
