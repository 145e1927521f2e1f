package kafkaoracle.record_accumulator;

import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;

/** The batches of a script, numbered in the order in which they were made, and what became of each. */
final class NumberedBatches {
    enum State { QUEUED, DRAINED, LOST, EXPIRED, ABORTED_IN_FLIGHT, DONE }

    private final IdentityHashMap<Object, Integer> numbers = new IdentityHashMap<>();
    private final List<Object> batches = new ArrayList<>();
    private final List<State> states = new ArrayList<>();

    int size() {
        return batches.size();
    }

    boolean has(Object batch) {
        return numbers.containsKey(batch);
    }

    void add(Object batch, State state) {
        numbers.put(batch, batches.size());
        batches.add(batch);
        states.add(state);
    }

    int number(Object batch) {
        return numbers.get(batch);
    }

    State state(Object batch) {
        return states.get(number(batch));
    }

    void set(Object batch, State state) {
        states.set(number(batch), state);
    }

    List<Object> in(State state) {
        return batches.stream().filter(batch -> state(batch) == state).toList();
    }

    /**
     * The batch of this number, if it is drained, or to be completed also if it expired or was aborted in flight; a number
     * below 0 counts back from the last such batch. Null if there is none.
     */
    Object find(int number, boolean toBeCompleted) {
        List<Object> out = batches.stream().filter(batch -> isOut(state(batch), toBeCompleted)).toList();
        if (number < 0) {
            return -number <= out.size() ? out.get(out.size() + number) : null;
        }
        return number < batches.size() && out.contains(batches.get(number)) ? batches.get(number) : null;
    }

    private static boolean isOut(State state, boolean toBeCompleted) {
        return state == State.DRAINED || toBeCompleted && (state == State.EXPIRED || state == State.ABORTED_IN_FLIGHT);
    }
}
