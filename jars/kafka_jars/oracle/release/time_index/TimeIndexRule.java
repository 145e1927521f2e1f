package kafkaoracle.time_index;

import java.util.List;
import java.util.Map;
import kafkaoracle.log_index.IndexRule;
import kafkaoracle.reflection.Members;

/** TimeIndex. */
public final class TimeIndexRule extends IndexRule {

    public TimeIndexRule(String release) {
        super("TimeIndex", ".timeindex");
    }

    @Override
    protected void append(List<?> entry) throws Exception {
        call("maybeAppend", ((Number) entry.get(0)).longValue(), ((Number) entry.get(1)).longValue(), false);
    }

    @Override
    protected Map<String, Object> ownStep(String op, Map<String, Object> step) throws Exception {
        if (!op.equals("maybe_append")) {
            return null;
        }
        boolean skip = (Boolean) step.getOrDefault("skip_full_check", false);
        call("maybeAppend", number(step, "timestamp", 0), number(step, "offset", 0), skip);
        return Map.of();
    }

    @Override
    protected List<Object> entry(Object found) throws ReflectiveOperationException {
        return List.of(Members.read(found, "timestamp"), Members.read(found, "offset"));
    }

    @Override
    protected Object last() throws ReflectiveOperationException {
        return entry(call("lastEntry"));
    }
}
