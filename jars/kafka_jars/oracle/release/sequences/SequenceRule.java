package kafkaoracle.sequences;

import java.lang.reflect.Method;
import java.util.Map;
import kafkaoracle.rule.Rule;

/** DefaultRecordBatch's static steps; by reflection, since it changed its package in 4.3.0 and one step was not public at first. */
public abstract class SequenceRule extends Rule {
    private final Method step;

    SequenceRule(String name) throws ReflectiveOperationException {
        this.step = batches().getDeclaredMethod(name, int.class, int.class);
        this.step.setAccessible(true);
    }

    @Override
    protected final Map<String, Object> answer(Map<String, Object> question) throws Exception {
        int sequence = integer(question.get("sequence"));
        int by = integer(question.get("by"));
        return Map.of("sequence", kafka(() -> step.invoke(null, sequence, by)));
    }

    private static Class<?> batches() throws ClassNotFoundException {
        try {
            return Class.forName("org.apache.kafka.common.record.internal.DefaultRecordBatch");
        } catch (ClassNotFoundException older) {
            return Class.forName("org.apache.kafka.common.record.DefaultRecordBatch");
        }
    }
}
