package kafkaoracle.partition;

import java.lang.reflect.Constructor;
import java.util.ArrayList;
import java.util.List;
import kafkaoracle.reflection.Arguments;
import kafkaoracle.reflection.Members;
import org.apache.kafka.common.TopicPartition;

/** Kafka's purgatories of a broker, whose timer keeps the operations until a step lets them expire. */
final class Purgatories {
    private static final int PURGE_INTERVAL = 1000;

    final Object produce;
    final Object others;
    private final List<Runnable> timed = new ArrayList<>();

    Purgatories() throws Exception {
        produce = purgatory("Produce");
        others = purgatory("Fetch");
    }

    private Object purgatory(String name) throws Exception {
        Constructor<?> constructor = Members.constructor(purgatoryType());
        Class<?> timer = Members.type("org.apache.kafka.server.util.timer.Timer", "kafka.utils.timer.Timer");
        Object keeping = Members.proxy(timer, (self, method, arguments) -> {
            if (method.getName().equals("add")) {
                timed.add((Runnable) arguments[0]);
                return null;
            }
            return Defaults.of(self, method);
        });
        return constructor.newInstance(new Arguments().give(String.class, name).give(timer, keeping)
            .give(int.class, 1, PURGE_INTERVAL).give(boolean.class, false, true)
            .match(constructor.getParameterTypes(), Defaults::make));
    }

    static Class<?> purgatoryType() throws ClassNotFoundException {
        return Members.type("org.apache.kafka.server.purgatory.DelayedOperationPurgatory", "kafka.server.DelayedOperationPurgatory");
    }

    /** What a partition completes when its high watermark moves. */
    Object operations(TopicPartition topicPartition) throws Exception {
        Constructor<?> constructor = Members.constructor(Class.forName("kafka.cluster.DelayedOperations"));
        return constructor.newInstance(new Arguments().give(TopicPartition.class, topicPartition)
            .give(purgatoryType(), produce, others, others, others)
            .match(constructor.getParameterTypes(), Defaults::make));
    }

    /** Lets every operation expire, in the order in which they began to wait. */
    void expire() {
        List<Runnable> due = List.copyOf(timed);
        timed.clear();
        due.forEach(Runnable::run);
    }
}
