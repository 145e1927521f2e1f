package kafkaoracle.accumulator;

import kafkaoracle.reflection.Members;
import org.apache.kafka.common.TopicPartition;

/** A batch of the accumulator's: a ProducerBatch, in 0.10 a RecordBatch, which has fewer methods. */
public final class BatchAccess {
    private BatchAccess() {
    }

    public static TopicPartition topicPartition(Object batch) throws ReflectiveOperationException {
        return (TopicPartition) Members.get(batch, "topicPartition");
    }

    public static int recordCount(Object batch) throws ReflectiveOperationException {
        return (Integer) Members.get(batch, "recordCount");
    }

    /** Bytes of a batch as it stands; 0.10.0 and 0.10.1 know it only of its records. */
    public static Object size(Object batch) throws ReflectiveOperationException {
        for (String name : new String[] {"estimatedSizeInBytes", "sizeInBytes"}) {
            if (Members.has(batch, name)) {
                return Members.call(batch, name);
            }
        }
        return Members.call(Members.get(batch, "records"), "sizeInBytes");
    }

    public static void setInFlight(Object batch, boolean isInFlight) throws ReflectiveOperationException {
        if (Members.has(batch, "setInflight")) {
            Members.call(batch, "setInflight", isInFlight);
        }
    }

    public static boolean isInFlight(Object batch) throws ReflectiveOperationException {
        return Members.has(batch, "isInflight") && (Boolean) Members.call(batch, "isInflight");
    }

    /** What the batch holds under this name, by a method or, in 0.10, in a field; -1 if the release has neither. */
    public static Object part(Object batch, String name) throws ReflectiveOperationException {
        boolean has = Members.has(batch, name) || Members.field(batch.getClass(), name) != null;
        return has ? Members.read(batch, name) : -1;
    }

    /** The records that a batch writes, as a MemoryRecords; in 0.10.0 and 0.10.1 it keeps them in a field. */
    public static Object records(Object batch) throws ReflectiveOperationException {
        return Members.read(batch, "records");
    }
}
