package kafkaoracle.rule;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.producer.KafkaProducer;

/** Closes a producer without waiting for anything: by {@code close(Duration)} (KIP-367), or before that with a TimeUnit. */
public final class ProducerClose {
    private ProducerClose() {
    }

    public static void close(KafkaProducer<?, ?> producer) throws ReflectiveOperationException {
        if (takesDuration()) {
            KafkaProducer.class.getMethod("close", Duration.class).invoke(producer, Duration.ZERO);
        } else {
            KafkaProducer.class.getMethod("close", long.class, TimeUnit.class).invoke(producer, 0L, TimeUnit.MILLISECONDS);
        }
    }

    public static boolean takesDuration() {
        try {
            KafkaProducer.class.getMethod("close", Duration.class);
            return true;
        } catch (NoSuchMethodException older) {
            return false;
        }
    }
}
