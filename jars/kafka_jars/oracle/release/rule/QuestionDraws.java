package kafkaoracle.rule;

import java.util.List;

/** The draws that a question holds, put in one at a time and counted when Kafka takes them. */
public final class QuestionDraws {
    private final List<?> draws;
    private int taken;

    public QuestionDraws(Object draws) {
        this.draws = (List<?>) draws;
    }

    public int taken() {
        return taken;
    }

    /** Makes the next draw of the question the one that Kafka takes next. */
    public void offer() {
        Draws.next(taken < draws.size() ? Rule.integer(draws.get(taken)) : 0);
    }

    /** Counts the draw that was offered if Kafka took it; fails if there was none left, or if Kafka took more than {@code most}. */
    public void settle(long most) {
        taken += Draws.used() > 0 ? 1 : 0;
        if (taken > draws.size() || Draws.used() > most) {
            throw tooFew(draws.size(), taken - 1 + Draws.used());
        }
    }

    public static IllegalStateException tooFew(int given, long taken) {
        return new IllegalStateException("the question holds " + given + " draws and Kafka took " + taken + ": add draws to it");
    }
}
