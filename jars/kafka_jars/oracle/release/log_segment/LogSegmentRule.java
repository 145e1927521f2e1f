package kafkaoracle.log_segment;

import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.channels.FileChannel;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import kafkaoracle.accumulator.SteppedClock;
import kafkaoracle.reflection.Arguments;
import kafkaoracle.reflection.Members;
import kafkaoracle.rule.ScriptRule;

/** LogSegment, step by step, on its own files. Calls go by name: the class moved from Scala to Java. */
public final class LogSegmentRule extends ScriptRule {
    private final SegmentFiles files = new SegmentFiles();
    private final SteppedClock clock = new SteppedClock();
    private SegmentOpening opening;
    private Map<String, Object> question;
    private Object segment;

    public LogSegmentRule(String release) {
    }

    @Override
    protected void begin(Map<String, Object> asked) throws Exception {
        if (opening == null) { // the broker's jars are loaded only once this rule has a question
            opening = new SegmentOpening();
        }
        question = asked;
        files.begin(number(question, "base_offset", 0));
        clock.now = number(question, "created_ms", 0);
        try {
            segment = opening.open(question, files, clock);
        } catch (InvocationTargetException wrapped) {
            throw new IllegalStateException(wrapped.getCause().toString(), wrapped.getCause());
        }
    }

    @Override
    protected Map<String, Object> answerStep(Map<String, Object> step) {
        return withoutMessage(super.answerStep(step));
    }

    @Override
    protected void end() {
        try {
            release();
            segment = null;
        } catch (Exception fault) {
            throw new IllegalStateException(fault.toString(), fault);
        } finally {
            files.empty();
        }
    }

    @Override
    protected Map<String, Object> take(String op, Map<String, Object> step) throws Exception {
        clock.now = number(step, "now", clock.now);
        switch (op) {
            case "append":
                append(new SegmentBatches((List<?>) step.get("batches")), Boolean.TRUE.equals(step.get("leader")));
                return Map.of();
            case "read":
                return read(step);
            case "translate":
                return translate(number(step, "offset", 0));
            case "should_roll":
                return shouldRoll(step);
            case "find":
                return find(step);
            case "next_offset":
                return Map.of("offset", kafka(segment, Members.has(segment, "readNextOffset") ? "readNextOffset" : "nextOffset"));
            case "look":
                return look();
            default:
                return change(op, step);
        }
    }

    private Map<String, Object> change(String op, Map<String, Object> step) throws Exception {
        switch (op) {
            case "truncate":
                return Map.of("truncated", kafka(segment, "truncateTo", number(step, "offset", 0)));
            case "recover":
                return recover();
            case "crash":
                release();
                files.cut(number(step, "cut", 0));
                segment = opening.open(question, files, clock);
                return recover();
            case "damage":
                files.damage(number(step, "batch", 0));
                return Map.of();
            case "inactive":
                kafka(segment, "onBecomeInactiveSegment");
                return Map.of();
            case "resize":
                if (Members.has(segment, "resizeIndexes")) {
                    kafka(segment, "resizeIndexes", (int) number(step, "size", 0));
                }
                return Map.of();
            case "reopen":
                kafka(segment, "close");
                segment = kafka(() -> opening.open(question, files, clock));
                return Map.of();
            default:
                throw new IllegalArgumentException("a script of LogSegment has no step " + op);
        }
    }

    private void append(SegmentBatches batches, boolean leader) throws Exception {
        Method method = Members.method(segment.getClass(), "append");
        if (method.getParameterCount() == 2) {
            kafka(() -> method.invoke(segment, batches.largestOffset, batches.records));
            return;
        }
        long offset = leader ? LeaderAppend.offsetOfLargest(batches.records, batches.firstOffset, clock) : batches.offsetOfLargest;
        Object[] arguments = method.getParameterCount() == 4
            ? new Object[] {batches.largestOffset, batches.largestTimestamp, offset, batches.records}
            : new Object[] {batches.firstOffset, batches.largestOffset, batches.largestTimestamp, offset, batches.records};
        kafka(() -> method.invoke(segment, arguments));
    }

    private Map<String, Object> read(Map<String, Object> step) throws Exception {
        Object log = Members.call(segment, "log");
        long end = number(step, "max_position", (Integer) Members.call(log, "sizeInBytes"));
        Method method = Members.method(segment.getClass(), "read");
        Object[] arguments = new Arguments().give(long.class, number(step, "offset", 0), end)
            .give(int.class, (int) number(step, "max_size", 0)).give(Optional.class, Optional.of(end))
            .giveAll(boolean.class, step.getOrDefault("min_one_message", false))
            .match(method.getParameterTypes(), LogSegmentRule::none);
        Object found = kafka(() -> method.invoke(segment, arguments));
        Map<String, Object> answer = new LinkedHashMap<>();
        if (found == null) {
            answer.put("found", null);
            return answer;
        }
        Object metadata = Members.read(found, "fetchOffsetMetadata");
        answer.put("found", List.of(
            Members.read(metadata, "messageOffset"),
            Members.read(metadata, "relativePositionInSegment"),
            Members.call(Members.read(found, "records"), "sizeInBytes")));
        answer.put("incomplete", Members.read(found, "firstEntryIncomplete"));
        return answer;
    }

    private Map<String, Object> translate(long offset) throws Exception {
        Object found = kafka(segment, "translateOffset", offset, 0);
        Map<String, Object> answer = new LinkedHashMap<>();
        answer.put("found", found == null ? null
            : List.of(Members.read(found, "offset"), Members.read(found, "position"), Members.read(found, "size")));
        return answer;
    }

    private Map<String, Object> shouldRoll(Map<String, Object> step) throws Exception {
        Method method = Members.method(segment.getClass(), "shouldRoll");
        if (method == null) {
            return Map.of();
        }
        int bytes = (int) number(step, "bytes", 0);
        long timestamp = number(step, "timestamp", 0);
        long offset = number(step, "offset", 0);
        if (method.getParameterCount() > 1) {
            return Map.of("roll", kafka(() -> method.invoke(segment, bytes, timestamp, offset, clock.now)));
        }
        Constructor<?> params = Members.constructor(method.getParameterTypes()[0]);
        Object made = params.newInstance(number(question, "segment_ms", 1000), (int) number(question, "segment_bytes", 1000),
            timestamp, offset, bytes, clock.now);
        return Map.of("roll", kafka(() -> method.invoke(segment, made)));
    }

    private Map<String, Object> find(Map<String, Object> step) throws Exception {
        Method method = Members.method(segment.getClass(), "findOffsetByTimestamp");
        Object[] arguments = {number(step, "timestamp", 0), number(step, "offset", 0), Integer.MAX_VALUE};
        Object found = kafka(() -> method.invoke(segment, Arrays.copyOf(arguments, method.getParameterCount())));
        boolean none = found instanceof Optional<?> optional ? optional.isEmpty() : (Boolean) Members.call(found, "isEmpty");
        Map<String, Object> answer = new LinkedHashMap<>();
        Object entry = none ? null : Members.call(found, "get");
        answer.put("found", none ? null : List.of(Members.read(entry, "timestamp"), Members.read(entry, "offset")));
        return answer;
    }

    private Map<String, Object> recover() throws Exception {
        Object state = SegmentFiles.bare(SegmentOpening.type("ProducerStateManager"));
        Method method = Members.method(segment.getClass(), "recover", 2);
        Object cache = none(method.getParameterTypes()[1]);
        return Map.of("truncated", kafka(() -> method.invoke(segment, state, cache)));
    }

    /** What stands for nothing: Optional.empty, Scala's None, or null. */
    private static Object none(Class<?> type) throws ReflectiveOperationException {
        if (type == Optional.class) {
            return Optional.empty();
        }
        return type.getName().equals("scala.Option") ? Members.getStatic(Class.forName("scala.None$"), "MODULE$") : null;
    }

    private Map<String, Object> look() throws Exception {
        Map<String, Object> answer = new LinkedHashMap<>();
        answer.put("size", kafka(segment, "size"));
        kafka(() -> index()); // opens the lazy indexes
        kafka(segment, "timeIndex");
        answer.put("index", files.content(".index"));
        answer.put("time_index", files.content(".timeindex"));
        return answer;
    }

    private Object index() throws ReflectiveOperationException {
        return Members.call(segment, Members.has(segment, "offsetIndex") ? "offsetIndex" : "index");
    }

    /** Lets go of the files as a process that is killed does. */
    private void release() throws Exception {
        if (segment == null) {
            return;
        }
        List<Object> indexes = new ArrayList<>();
        try {
            indexes.add(index());
            indexes.add(Members.call(segment, "timeIndex"));
        } catch (InvocationTargetException unreadable) {
            // an index that cannot be opened is not mapped
        }
        for (Object index : indexes) {
            SegmentFiles.unmap(index);
        }
        ((FileChannel) Members.call(Members.call(segment, "log"), "channel")).close();
    }
}
