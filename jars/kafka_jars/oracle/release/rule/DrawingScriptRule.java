package kafkaoracle.rule;

import java.util.Map;

/**
 * A script whose question holds the draws that Kafka takes, one for each step in which it draws.
 *
 * The next draw is put in before each step; those that follow within the step are what ThreadLocalRandom makes of it.
 */
public abstract class DrawingScriptRule extends ScriptRule {
    private QuestionDraws draws;

    protected abstract void start(Map<String, Object> question) throws Exception;

    @Override
    protected final void begin(Map<String, Object> question) throws Exception {
        draws = new QuestionDraws(question.get("draws"));
        start(question);
    }

    @Override
    protected final Map<String, Object> answerStep(Map<String, Object> step) {
        draws.offer();
        Map<String, Object> answer = super.answerStep(step);
        draws.settle(Long.MAX_VALUE);
        return withoutMessage(answer);
    }
}
