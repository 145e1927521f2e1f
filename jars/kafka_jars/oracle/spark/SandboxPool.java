package kafkaoracle.spark;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import kafkaoracle.host.ReleaseSandbox;

/**
 * The idle sandboxes of this executor. If none of a release is idle, one is opened, so there are as many as tasks run at
 * once, and those of other releases are closed: a sweep goes through one release after another.
 */
final class SandboxPool {
    private static final Map<String, Deque<ReleaseSandbox>> IDLE = new HashMap<>();

    interface Work<T> {
        T run(ReleaseSandbox sandbox) throws Exception;
    }

    private SandboxPool() {
    }

    static <T> T with(SentRelease sent, Work<T> work) throws Exception {
        ReleaseSandbox sandbox = take(sent);
        try {
            return work.run(sandbox);
        } finally {
            give(sent, sandbox);
        }
    }

    // Sandboxes are opened one at a time: the thread that opens one has the same id, 0, in every sandbox.
    private static synchronized ReleaseSandbox take(SentRelease sent) throws Exception {
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

    private static synchronized void give(SentRelease sent, ReleaseSandbox sandbox) {
        IDLE.computeIfAbsent(sent.text, text -> new ArrayDeque<>()).push(sandbox);
    }
}
