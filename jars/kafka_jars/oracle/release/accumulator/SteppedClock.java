package kafkaoracle.accumulator;

import java.lang.reflect.InvocationHandler;
import java.util.function.Supplier;
import kafkaoracle.reflection.Members;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.utils.Time;

/** Kafka's Time, which stands still unless a step moves it or Kafka sleeps; who waits for something does not get it. */
public final class SteppedClock {
    /** Milliseconds. */
    public long now;

    public final Time time = (Time) Members.proxy(Time.class, (self, method, arguments) -> {
        switch (method.getName()) {
            case "sleep":
                now += (Long) arguments[0];
                return null;
            case "milliseconds":
            case "hiResClockMs":
                return now;
            case "nanoseconds":
                return now * 1_000_000;
            case "waitObject":
                if (!(Boolean) ((Supplier<?>) arguments[1]).get()) {
                    throw new TimeoutException("Condition not satisfied before deadline");
                }
                return null;
            default:
                if (method.isDefault()) {
                    return InvocationHandler.invokeDefault(self, method, arguments);
                }
                throw new IllegalStateException("SteppedClock does not implement Time." + method.getName());
        }
    });
}
