package kafkaoracle.log_segment;

import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import kafkaoracle.accumulator.SteppedClock;
import kafkaoracle.reflection.Arguments;
import kafkaoracle.reflection.Members;
import kafkaoracle.rule.Rule;
import org.apache.kafka.common.TopicPartition;

/** What the log of a leader receives for a client's batch: LogValidator returns the offset of the largest timestamp. */
final class LeaderAppend {
    private static final byte MAGIC = 2;
    private static final int NO_EPOCH = -1;
    private static final String VALIDATE = "validateMessagesAndAssignOffsets";

    private LeaderAppend() {
    }

    /** The offset that UnifiedLog, Log up to 2.8.x, passes to its segment: LogValidator is Scala's up to 3.4.x. */
    static long offsetOfLargest(Object records, long firstOffset, SteppedClock clock) throws Exception {
        Class<?> java = Members.typeOrNull("org.apache.kafka.storage.internals.log.LogValidator");
        Object validator;
        Method validate;
        Object[] times;
        if (java == null) {
            validator = Members.getStatic(Class.forName("kafka.log.LogValidator$"), "MODULE$");
            validate = Members.method(validator.getClass(), VALIDATE);
            times = new Object[] {clock.now, Long.MAX_VALUE};
        } else {
            Constructor<?> constructor = Members.constructor(java);
            times = new Object[] {Long.MAX_VALUE, Long.MAX_VALUE};
            validator = constructor.newInstance(arguments(constructor.getParameterTypes(), records, firstOffset, clock, times));
            validate = Members.method(java, VALIDATE);
        }
        Object[] given = arguments(validate.getParameterTypes(), records, firstOffset, clock, times);
        Object result = Rule.kafka(() -> validate.invoke(validator, given));
        return (Long) Members.read(result, Members.field(result.getClass(), "shallowOffsetOfMaxTimestampMs") == null
            ? "shallowOffsetOfMaxTimestamp" : "shallowOffsetOfMaxTimestampMs");
    }

    private static Object[] arguments(Class<?>[] types, Object records, long firstOffset, SteppedClock clock, Object[] times)
            throws Exception {
        return new Arguments().give(long.class, times).give(boolean.class, false, true).give(byte.class, MAGIC)
            .give(int.class, NO_EPOCH).match(types, type -> argument(type, records, firstOffset, clock));
    }

    /** An argument by its type; what only compressed batches, conversions and metrics need is null. */
    private static Object argument(Class<?> type, Object records, long firstOffset, SteppedClock clock) throws Exception {
        switch (type.getSimpleName()) {
            case "MemoryRecords":
                return records;
            case "TopicPartition":
                return new TopicPartition("topic", 0);
            case "LongRef":
                return Members.constructor(type).newInstance(firstOffset);
            case "Time":
                return clock.time;
            case "TimestampType":
                return type.getField("CREATE_TIME").get(null);
            case "CompressionType":
            case "Compression":
                return type.getField("NONE").get(null);
            case "CompressionCodec":
                return Members.getStatic(Class.forName("kafka.message.NoCompressionCodec$"), "MODULE$");
            case "AppendOrigin":
                return type.isEnum() ? type.getField("CLIENT").get(null)
                    : Members.getStatic(Class.forName("kafka.log.AppendOrigin$Client$"), "MODULE$");
            default:
                return null;
        }
    }
}
