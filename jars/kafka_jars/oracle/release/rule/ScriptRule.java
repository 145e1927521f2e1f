package kafkaoracle.rule;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * A rule whose question is a script: steps that are taken one after another on one object of Kafka's.
 *
 * A step in which Kafka throws is answered by what it threw, and the script goes on with whatever state that left.
 */
public abstract class ScriptRule extends Rule {

    /** Makes a new object of Kafka's. */
    protected abstract void begin(Map<String, Object> question) throws Exception;

    protected abstract Map<String, Object> take(String op, Map<String, Object> step) throws Exception;

    /** Called after the last step, and also if a step fails. */
    protected void end() {
    }

    @Override
    @SuppressWarnings("unchecked")
    protected final Map<String, Object> answer(Map<String, Object> question) throws Exception {
        List<Object> answers = new ArrayList<>();
        try {
            begin(question);
            for (Map<String, Object> step : (List<Map<String, Object>>) question.get("steps")) {
                answers.add(answerStep(step));
            }
        } finally {
            end();
        }
        return Map.of("steps", answers);
    }

    protected Map<String, Object> answerStep(Map<String, Object> step) {
        return outcome(() -> take((String) step.get("op"), step));
    }

    /** The answer without Kafka's message, where that names what the answers show anyway and was reworded often. */
    protected static Map<String, Object> withoutMessage(Map<String, Object> answer) {
        return answer != null && answer.containsKey("message") ? Map.of("raises", answer.get("raises")) : answer;
    }
}
