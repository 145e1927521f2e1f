package kafkaoracle.rule;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Makes Kafka draw what the question says, with Kafka's classes and the JDK's untouched: the state of ThreadLocalRandom
 * is a private field of the thread, and on a thread whose id is 0 the k-th nextInt() is mix32(seed + k * GAMMA).
 */
public final class Draws {
    private static final long GAMMA = 0x9e3779b97f4a7c15L;
    private static final long MIX1 = 0xff51afd7ed558ccdL;
    private static final long MIX2 = 0xc4ceb9fe1a85ec53L;
    private static final VarHandle SEED = seedField();

    private static long start;

    private Draws() {
    }

    /** Makes draw k from here on mix32(seed + k * GAMMA). */
    public static void from(long seed) {
        int first = mix32(seed + GAMMA);
        set(seed);
        if (ThreadLocalRandom.current().nextInt() != first) {
            throw new IllegalStateException("this JVM does not draw as expected: " + System.getProperty("java.vm.version"));
        }
        set(seed);
    }

    /** Makes the next draw this one; those after it follow from it. */
    public static void next(int draw) {
        from(seedFor(draw));
    }

    /** The number of draws taken since the last call of from or next. */
    public static long used() {
        return ((long) SEED.get(Thread.currentThread()) - start) * inverse(GAMMA);
    }

    private static void set(long seed) {
        ThreadLocalRandom.current(); // initialises the thread's state, which would overwrite the seed later
        start = seed;
        SEED.set(Thread.currentThread(), seed);
    }

    static int mix32(long z) {
        z = (z ^ (z >>> 33)) * MIX1;
        return (int) (((z ^ (z >>> 33)) * MIX2) >>> 32);
    }

    static long seedFor(int draw) {
        long z = ((long) draw << 32) * inverse(MIX2);
        z = (z ^ (z >>> 33)) * inverse(MIX1);
        return (z ^ (z >>> 33)) - GAMMA;
    }

    /** The inverse of an odd number modulo 2^64, by Newton's iteration. */
    private static long inverse(long odd) {
        long x = odd;
        for (int i = 0; i < 6; i++) {
            x *= 2 - odd * x;
        }
        return x;
    }

    private static VarHandle seedField() {
        try {
            return MethodHandles.privateLookupIn(Thread.class, MethodHandles.lookup())
                .findVarHandle(Thread.class, "threadLocalRandomSeed", long.class);
        } catch (ReflectiveOperationException changed) {
            throw new IllegalStateException("this JVM keeps its random seed elsewhere", changed);
        }
    }
}
