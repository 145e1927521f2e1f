package kafkaoracle.spark;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import kafkaoracle.host.ReleaseSandbox;

/**
 * The sandboxes of this executor that nobody is in: one is opened where there is none, so there come to be as many as tasks run at
 * once. SandboxPool of other releases are closed then: a sweep asks about one release after another.
 */
final class SandboxPool {
    private static final Map<String, Deque<ReleaseSandbox>> IDLE = new HashMap<>();

    /** What is done in a sandbox. */
    interface Work<T> {
        T in(ReleaseSandbox sandbox) throws Exception;
    }

    private SandboxPool() {
    }

    static <T> T with(Sent sent, Work<T> work) throws Exception {
        ReleaseSandbox sandbox = take(sent);
        try {
            return work.in(sandbox);
        } finally {
            give(sent, sandbox);
        }
    }

    // Opening too is done by one at a time: a sandbox is made by a thread whose id every other sandbox's thread has as well.
    private static synchronized ReleaseSandbox take(Sent sent) throws Exception {
        Deque<ReleaseSandbox> idle = IDLE.computeIfAbsent(sent.text, text -> new ArrayDeque<>());
        if (!idle.isEmpty()) {
            return idle.pop();
        }
        for (Map.Entry<String, Deque<ReleaseSandbox>> other : IDLE.entrySet()) {
            while (!other.getKey().equals(sent.text) && !other.getValue().isEmpty()) {
                other.getValue().pop().close();
            }
        }
        return sent.open();
    }

    private static synchronized void give(Sent sent, ReleaseSandbox sandbox) {
        IDLE.computeIfAbsent(sent.text, text -> new ArrayDeque<>()).push(sandbox);
    }
}
