import java.io.BufferedReader;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Runs the main method of {@code kafka.Kafka} again and again in one JVM; each line of standard input is a command.
 *
 * <p>{@code start N LOG PROPERTIES} runs it with standard error in the file LOG; {@code zookeeper N LOG PROPERTIES} does so
 * for ZooKeeper's server; {@code stop} runs Kafka's shutdown hooks, waits for the threads of the start, and prints
 * {@code stopped} with the names of those that are left. {@code ended N CODE} is printed as soon as Kafka calls Exit. The
 * JVM ends with its standard input. The classes of Kafka are called by reflection: their packages differ between releases.
 */
public final class BrokerHost {
    private static final String[] EXITS = {
        "org.apache.kafka.common.utils.internals.Exit", "org.apache.kafka.common.utils.Exit",
    };
    /** Threads of executors and of the JVM: they wait for work, and Java replaces one that is killed. */
    private static final String IDLE =
        "kafka-scheduler-\\d+|group-metadata-manager-\\d+|transaction-log-manager-\\d+|SensorExpiryThread"
            + "|metrics-meter-tick-thread-\\d+|ForkJoinPool\\.commonPool-worker-\\d+|Cleaner-\\d+|kafka-shutdown";
    private static final int MOST_THREADS = 1_000;
    private static final long LIMIT_MS = 8_000;
    private static final long INTERRUPT_AFTER_MS = 700;
    private static final long KILL_AFTER_MS = 1_500;

    private static final PrintStream OUT = System.out;
    private static final Map<String, Runnable> HOOKS = new ConcurrentHashMap<>();
    private static volatile ThreadGroup group;
    private static volatile String running = "";
    private static Object zookeeper;

    private BrokerHost() {}

    /** Kafka called Exit: nothing after the call may run. */
    private static final class Exited extends Error {
        private static final long serialVersionUID = 1L;

        Exited(int code) {
            super("exit with code " + code, null, false, false);
        }
    }

    public static void main(String[] arguments) throws Exception {
        Class<?> exit = exitClass();
        for (String name : new String[] {"setExitProcedure", "setHaltProcedure"}) {
            set(exit, name, called -> {
                ended((Integer) called[0]);
                throw new Exited((Integer) called[0]);
            });
        }
        set(exit, "setShutdownHookAdder", called -> HOOKS.put((String) called[0], (Runnable) called[1]));
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = commands.readLine()) != null; ) {
            String[] words = line.split(" ", 4);
            switch (words[0]) {
                case "start":
                    log(words[2]);
                    running = words[1];
                    run("main", () -> call("kafka.Kafka", words[3]));
                    break;
                case "zookeeper":
                    log(words[2]);
                    zookeeper = Class.forName("org.apache.zookeeper.server.ZooKeeperServerMain")
                        .getConstructor().newInstance();
                    run("zookeeper", () -> invoke(zookeeper, "initializeAndRun", new Object[] {new String[] {words[3]}}));
                    break;
                default:
                    stop();
            }
        }
        Runtime.getRuntime().halt(0);
    }

    private interface Step {
        void run() throws Exception;
    }

    private interface Procedure {
        void call(Object[] arguments);
    }

    private static void stop() throws Exception {
        run("kafka-shutdown", () -> HOOKS.values().forEach(Runnable::run)).join(LIMIT_MS);
        HOOKS.clear();
        running = "";
        if (zookeeper != null) {
            invoke(zookeeper, "close", new Object[0]);
            zookeeper = null;
        }
        long began = System.currentTimeMillis();
        long waited = 0;
        Set<String> left;
        while (!(left = left(waited > INTERRUPT_AFTER_MS, waited > KILL_AFTER_MS)).isEmpty() && waited < LIMIT_MS) {
            Thread.sleep(20);
            waited = System.currentTimeMillis() - began;
        }
        group = null;
        print("stopped " + String.join(",", left));
    }

    /** Returns the names of the threads that are left of a start: one that failed leaves threads that wait for ever. */
    @SuppressWarnings("removal")
    private static Set<String> left(boolean interrupted, boolean killed) {
        Thread[] threads = new Thread[MOST_THREADS];
        Set<String> names = new TreeSet<>();
        for (Thread thread : Arrays.asList(threads).subList(0, group.enumerate(threads))) {
            if (thread.getName().matches(IDLE)) {
                continue;
            }
            names.add(thread.getName().replace(' ', '_'));
            if (interrupted) {
                thread.interrupt();
            }
            if (killed) {
                try {
                    thread.stop();
                } catch (UnsupportedOperationException error) {
                    // Java 20 and newer: this JVM is not used again.
                }
            }
        }
        return names;
    }

    private static Thread run(String name, Step step) {
        group = group == null ? new ThreadGroup("start") : group;
        Thread thread = new Thread(group, () -> {
            try {
                step.run();
            } catch (Exited exited) {
                // It was printed.
            } catch (Throwable error) {
                error.printStackTrace();
                ended(1);
            }
        }, name);
        thread.start();
        return thread;
    }

    /** Prints that the broker has ended, unless a thread of an earlier one says so. */
    private static void ended(int code) {
        for (ThreadGroup each = Thread.currentThread().getThreadGroup(); each != null; each = each.getParent()) {
            if (each == group) {
                print("ended " + running + " " + code);
            }
        }
    }

    private static synchronized void print(String line) {
        OUT.println(line);
        OUT.flush();
    }

    private static void log(String file) throws IOException {
        System.setErr(new PrintStream(new FileOutputStream(file, true), true));
    }

    private static void call(String name, String argument) throws Exception {
        try {
            Class.forName(name).getMethod("main", String[].class).invoke(null, (Object) new String[] {argument});
        } catch (java.lang.reflect.InvocationTargetException error) {
            rethrow(error.getCause());
        }
    }

    private static void invoke(Object object, String name, Object[] arguments) throws Exception {
        for (Method method : object.getClass().getDeclaredMethods()) {
            if (method.getName().equals(name) && method.getParameterCount() == arguments.length) {
                method.setAccessible(true);
                method.invoke(object, arguments);
                return;
            }
        }
        throw new NoSuchMethodException(name);
    }

    private static void rethrow(Throwable error) throws Exception {
        if (error instanceof Error) {
            throw (Error) error;
        }
        throw (Exception) error;
    }

    private static Class<?> exitClass() throws ClassNotFoundException {
        for (String name : EXITS) {
            try {
                return Class.forName(name);
            } catch (ClassNotFoundException error) {
                // The package is another one in other releases.
            }
        }
        throw new ClassNotFoundException(String.join(", ", EXITS));
    }

    private static void set(Class<?> exit, String name, Procedure procedure) throws Exception {
        for (Method method : exit.getMethods()) {
            if (method.getName().equals(name)) {
                Class<?> type = method.getParameterTypes()[0];
                method.invoke(null, Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (self, called, values) -> {
                    if (called.getDeclaringClass() == Object.class) {
                        return called.getName().equals("hashCode") ? (Object) System.identityHashCode(self) : name;
                    }
                    procedure.call(values);
                    return null;
                }));
                return;
            }
        }
        throw new NoSuchMethodException(name);
    }
}
