package kafkaoracle.producer_send;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import kafkaoracle.reflection.Members;
import org.apache.kafka.clients.producer.KafkaProducer;

/** A call of KafkaProducer.flush, on a separate thread: it waits for the batches that were incomplete when it was called. */
final class FlushCall {
    private static final long LIMIT_MS = 20_000;

    private final Thread thread;
    private final List<Object> awaited = new ArrayList<>();

    /** Returns once the call waits or has ended; {@code incomplete} are the batches that it waits for. */
    FlushCall(KafkaProducer<?, ?> producer, Collection<Object> incomplete) throws ReflectiveOperationException {
        for (Object batch : incomplete) {
            awaited.add(Members.get(batch, "produceFuture"));
        }
        thread = new Thread(() -> {
            try {
                producer.flush();
            } catch (RuntimeException interrupted) { // at the end of the question
                return;
            }
        }, "flush");
        thread.setDaemon(true);
        thread.start();
        long limit = System.nanoTime() + LIMIT_MS * 1_000_000;
        while (thread.getState() != Thread.State.WAITING && thread.getState() != Thread.State.TERMINATED) {
            if (System.nanoTime() > limit) {
                throw new IllegalStateException("KafkaProducer.flush neither waits nor ends");
            }
            Thread.onSpinWait();
        }
    }

    boolean isOver() throws ReflectiveOperationException {
        for (Object result : awaited) {
            if (!isComplete(result)) {
                return false;
            }
        }
        return true;
    }

    /** Since 3.9.2 (4.0.2, 4.1.1, 4.2.0) a result depends on those of the pieces of a batch that was split. */
    private static boolean isComplete(Object result) throws ReflectiveOperationException {
        if (!(Boolean) Members.call(result, "completed")) {
            return false;
        }
        if (Members.field(result.getClass(), "dependentResults") != null) {
            for (Object dependent : (Iterable<?>) Members.get(result, "dependentResults")) {
                if (!isComplete(dependent)) {
                    return false;
                }
            }
        }
        return true;
    }

    /** Waits until a call that is over has returned. */
    void join() {
        try {
            thread.join(LIMIT_MS);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
        if (thread.isAlive()) {
            throw new IllegalStateException("KafkaProducer.flush does not end with the batches that it waits for");
        }
    }

    void interrupt() {
        thread.interrupt();
        join();
    }
}
