package kafkaoracle.spark;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import kafkaoracle.host.ReleaseRoom;

/**
 * The rooms of this executor that nobody is in: one is opened where there is none, so there come to be as many as tasks run at
 * once. Rooms of other releases are closed then: a sweep asks about one release after another.
 */
final class Rooms {
    private static final Map<String, Deque<ReleaseRoom>> IDLE = new HashMap<>();

    /** What is done in a room. */
    interface Work<T> {
        T in(ReleaseRoom room) throws Exception;
    }

    private Rooms() {
    }

    static <T> T with(Sent sent, Work<T> work) throws Exception {
        ReleaseRoom room = take(sent);
        try {
            return work.in(room);
        } finally {
            give(sent, room);
        }
    }

    // Opening too is done by one at a time: a room is made by a thread whose id every other room's thread has as well.
    private static synchronized ReleaseRoom take(Sent sent) throws Exception {
        Deque<ReleaseRoom> idle = IDLE.computeIfAbsent(sent.text, text -> new ArrayDeque<>());
        if (!idle.isEmpty()) {
            return idle.pop();
        }
        for (Map.Entry<String, Deque<ReleaseRoom>> other : IDLE.entrySet()) {
            while (!other.getKey().equals(sent.text) && !other.getValue().isEmpty()) {
                other.getValue().pop().close();
            }
        }
        return sent.open();
    }

    private static synchronized void give(Sent sent, ReleaseRoom room) {
        IDLE.computeIfAbsent(sent.text, text -> new ArrayDeque<>()).push(room);
    }
}
