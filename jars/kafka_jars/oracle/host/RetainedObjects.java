package kafkaoracle.host;

import java.lang.management.ManagementFactory;
import java.lang.reflect.Field;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import javax.management.InstanceNotFoundException;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.ObjectName;

/**
 * What the classes of a release leave in the JVM outside their class loader. A thread, a shutdown hook or an MBean of theirs
 * reaches the class loader, so the JVM would never unload it: 2,500 classes and 17 MB of metaspace for each opening of a broker.
 */
final class RetainedObjects {
    // A broker's meters tick on threads of a registry: since 2.5.0 Kafka's own, before that the one of Yammer's library.
    private static final String[] REGISTRIES = {
        "org.apache.kafka.server.metrics.KafkaYammerMetrics", "kafka.metrics.KafkaYammerMetrics",
    };
    private static final String YAMMER = "com.yammer.metrics.Metrics";

    private static final long HOOK_LIMIT_MS = 10_000;

    private RetainedObjects() {
    }

    /** Releases all of it; {@code loaded} returns the class of a name if the class loader has loaded it, else null. */
    static void release(ClassLoader loader, Function<String, Class<?>> loaded) throws Exception {
        for (String name : REGISTRIES) {
            Class<?> registry = loaded.apply(name);
            if (registry != null) {
                Object metrics = registry.getMethod("defaultRegistry").invoke(null);
                metrics.getClass().getMethod("shutdown").invoke(metrics);
            }
        }
        Class<?> yammer = loaded.apply(YAMMER);
        if (yammer != null) {
            yammer.getMethod("shutdown").invoke(null); // ends its threads and removes its shutdown hook
        }
        runShutdownHooks(loader);
        unregister(loader);
    }

    /** Runs the hooks that delete the folders of a release's rules: for these classes, the JVM's end is now. */
    private static void runShutdownHooks(ClassLoader loader) throws Exception {
        for (Thread hook : shutdownHooks()) {
            if (hook.getContextClassLoader() == loader && Runtime.getRuntime().removeShutdownHook(hook)) {
                hook.start();
                hook.join(HOOK_LIMIT_MS);
            }
        }
    }

    private static List<Thread> shutdownHooks() throws ReflectiveOperationException {
        Class<?> registered = Class.forName("java.lang.ApplicationShutdownHooks");
        Field hooks = registered.getDeclaredField("hooks");
        hooks.setAccessible(true);
        synchronized (registered) {
            Map<?, ?> threads = (Map<?, ?>) hooks.get(null); // null while the JVM ends
            return threads == null ? List.of() : threads.keySet().stream().map(Thread.class::cast).toList();
        }
    }

    private static void unregister(ClassLoader loader) throws JMException {
        MBeanServer server = ManagementFactory.getPlatformMBeanServer();
        for (ObjectName name : server.queryNames(null, null)) {
            try {
                if (server.getClassLoaderFor(name) == loader) {
                    server.unregisterMBean(name);
                }
            } catch (InstanceNotFoundException gone) {
                // A thread that the registry has just ended unregistered it first.
            }
        }
    }
}
