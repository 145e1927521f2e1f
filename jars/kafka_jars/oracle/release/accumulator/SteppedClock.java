package kafkaoracle.accumulator;

import kafkaoracle.reflection.Members;
import org.apache.kafka.common.utils.Time;

/** Kafka's Time, which stands still unless a step moves it or Kafka sleeps. */
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
            default:
                throw new IllegalStateException("SteppedClock does not implement Time." + method.getName());
        }
    });
}
