package kafkaoracle.sequences;

import java.lang.reflect.Method;
import java.util.Map;
import kafkaoracle.reflection.Members;
import kafkaoracle.rule.Rule;

/** The static methods of DefaultRecordBatch that step a sequence; by reflection, since one was not public at first. */
public abstract class SequenceRule extends Rule {
    private final Method method;

    SequenceRule(String name) throws ReflectiveOperationException {
        method = Members.method(Members.recordType("DefaultRecordBatch"), name, 2);
    }

    @Override
    protected final Map<String, Object> answer(Map<String, Object> question) throws Exception {
        int sequence = integer(question.get("sequence"));
        int by = integer(question.get("by"));
        return Map.of("sequence", kafka(() -> method.invoke(null, sequence, by)));
    }
}
