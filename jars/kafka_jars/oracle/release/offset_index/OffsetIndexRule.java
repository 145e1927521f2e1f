package kafkaoracle.offset_index;

import java.lang.reflect.Constructor;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import kafkaoracle.log_index.IndexRule;
import kafkaoracle.reflection.Members;

/** OffsetIndex. */
public final class OffsetIndexRule extends IndexRule {
    private Constructor<?> position;

    public OffsetIndexRule(String release) {
        super("OffsetIndex", ".index");
    }

    @Override
    protected void append(List<?> entry) throws Exception {
        call("append", ((Number) entry.get(0)).longValue(), integer(entry.get(1)));
    }

    @Override
    protected Map<String, Object> ownStep(String op, Map<String, Object> step) throws Exception {
        switch (op) {
            case "append":
                call("append", number(step, "offset", 0), (int) number(step, "position", 0));
                return Map.of();
            case "upper_bound":
                return upperBound((int) number(step, "position", 0), (int) number(step, "size", 0));
            default:
                return null;
        }
    }

    private Map<String, Object> upperBound(int from, int size) throws ReflectiveOperationException {
        if (position == null) {
            position = Members.constructor(
                Members.type("org.apache.kafka.storage.internals.log.OffsetPosition", "kafka.log.OffsetPosition"));
        }
        Object found = call("fetchUpperBoundOffset", position.newInstance(0L, from), size);
        Map<String, Object> answer = new LinkedHashMap<>();
        answer.put("bound", (Boolean) Members.call(found, "isEmpty") ? null : entry(Members.call(found, "get")));
        return answer;
    }

    @Override
    protected List<Object> entry(Object found) throws ReflectiveOperationException {
        return List.of(Members.read(found, "offset"), Members.read(found, "position"));
    }

    @Override
    protected Object last() throws ReflectiveOperationException {
        return call("lastOffset");
    }
}
