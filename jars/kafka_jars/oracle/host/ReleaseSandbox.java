package kafkaoracle.host;

import java.io.IOException;
import java.io.InputStream;
import java.io.RandomAccessFile;
import java.lang.reflect.Field;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.ToLongBiFunction;

/**
 * One release, in a class loader whose parent is the platform's, so that Spark's class path, which may hold another
 * kafka-clients, is out of sight. What was loaded is read back, never assumed.
 *
 * Rules run on one thread whose id is set to 0: then ThreadLocalRandom's k-th draw depends on the seed alone, and Kafka
 * draws what the question says.
 */
public final class ReleaseSandbox {
    private final Loader loader;
    private final ExecutorService thread;
    private final String loadedVersion;
    private final String loadedFrom;
    private final Map<String, Function<Map<String, Object>, Map<String, Object>>> rules = new HashMap<>();

    public ReleaseSandbox(String release, String[] jars, String[] ruleClasses) throws Exception {
        loader = new Loader("kafka-" + release);
        loader.add(jars);
        loadedFrom = jarOf("org.apache.kafka.common.utils.Utils");
        loadedVersion = versionIn(loader);
        // Since Java 21, Executors.newSingleThreadExecutor registers a Cleaner that holds its thread factory, and by this
        // one the class loader, for ever.
        thread = new ThreadPoolExecutor(1, 1, 0, TimeUnit.MILLISECONDS, new LinkedBlockingQueue<>(), work -> {
            Thread made = new Thread(work, "kafka-oracle-" + release);
            made.setDaemon(true);
            made.setContextClassLoader(loader);
            return made;
        });
        onThread(() -> {
            clearThreadId();
            for (String rule : ruleClasses) {
                String[] slugAndClass = rule.split("=");
                rules.put(slugAndClass[0], instance(slugAndClass[1], release));
            }
            return null;
        });
    }

    /** Adds jars behind the others, so nothing loaded changes, and returns the jar from which {@code witness} was loaded. */
    public String extend(String[] jars, String witness) throws Exception {
        loader.add(jars);
        return jarOf(witness);
    }

    private String jarOf(String className) throws Exception {
        Class<?> witness = Class.forName(className, false, loader);
        return Path.of(witness.getProtectionDomain().getCodeSource().getLocation().toURI()).toString();
    }

    public String loadedVersion() {
        return loadedVersion;
    }

    public String loadedFrom() {
        return loadedFrom;
    }

    /** Answers a whole batch on the thread: passing questions one by one takes longer than many answers do. */
    List<Map<String, Object>> answer(List<Map<String, Object>> batch) throws Exception {
        return onThread(() -> {
            List<Map<String, Object>> answers = new ArrayList<>(batch.size());
            for (Map<String, Object> line : batch) {
                Map<String, Object> answer = new LinkedHashMap<>();
                answer.put("id", line.get("id"));
                answer(line, answer);
                answers.add(answer);
            }
            return answers;
        });
    }

    @SuppressWarnings("unchecked")
    private void answer(Map<String, Object> line, Map<String, Object> answer) {
        Function<Map<String, Object>, Map<String, Object>> rule = rules.get((String) line.get("rule"));
        if (rule == null) {
            answer.put("unsupported", "release " + loadedVersion + " has no rule " + line.get("rule"));
            return;
        }
        try {
            answer.put("answer", rule.apply((Map<String, Object>) line.get("question")));
        } catch (Exception | LinkageError failed) {
            // A question about a class that this release lacks. (A LinkageError with such a cause is a fault of the class path.)
            if (failed instanceof Exception && failed.getCause() instanceof ClassNotFoundException absent) {
                answer.put("unsupported", "release " + loadedVersion + " has no class " + absent.getMessage());
                return;
            }
            answer.put("failed", String.valueOf(failed.getMessage() == null ? failed : failed.getMessage()));
        }
    }

    long bulk(String rule, String in, String out) throws Exception {
        ToLongBiFunction<ByteBuffer, ByteBuffer> column = column(rule);
        try (RandomAccessFile keys = new RandomAccessFile(in, "r"); RandomAccessFile results = new RandomAccessFile(out, "rw")) {
            ByteBuffer from = keys.getChannel().map(MapMode.READ_ONLY, 0, keys.length()).order(ByteOrder.LITTLE_ENDIAN);
            ByteBuffer into = results.getChannel().map(MapMode.READ_WRITE, 0, 4 * from.getLong(0)).order(ByteOrder.LITTLE_ENDIAN);
            return onThread(() -> column.applyAsLong(from, into));
        }
    }

    /**
     * Answers a column of keys (see KeyColumn.java) on the caller's thread, one column at a time: such a rule draws nothing,
     * so it does not need the thread whose id is 0, and such threads in several sandboxes would wait for each other.
     */
    public void answer(String rule, ByteBuffer in, ByteBuffer out) {
        column(rule).applyAsLong(in, out);
    }

    @SuppressWarnings("unchecked")
    private ToLongBiFunction<ByteBuffer, ByteBuffer> column(String rule) {
        return (ToLongBiFunction<ByteBuffer, ByteBuffer>) (Object) rules.get(rule);
    }

    /** Ends the threads of the release and closes its class loader; the JVM then unloads its classes. */
    public void close() throws Exception {
        thread.shutdownNow();
        try {
            RetainedObjects.release(loader, loader::loaded);
        } finally {
            loader.close();
        }
    }

    private <T> T onThread(Callable<T> work) throws Exception {
        try {
            return thread.submit(work).get();
        } catch (ExecutionException wrapped) {
            if (wrapped.getCause() instanceof Error error) {
                throw error;
            }
            throw (Exception) wrapped.getCause();
        }
    }

    @SuppressWarnings("unchecked")
    private Function<Map<String, Object>, Map<String, Object>> instance(String className, String release) throws Exception {
        Object rule = Class.forName(className, true, loader).getConstructor(String.class).newInstance(release);
        return (Function<Map<String, Object>, Map<String, Object>>) rule;
    }

    private static String versionIn(URLClassLoader loader) throws IOException {
        Properties properties = new Properties();
        try (InputStream file = loader.getResourceAsStream("kafka/kafka-version.properties")) {
            if (file == null) {
                return "unknown";
            }
            properties.load(file);
        }
        return properties.getProperty("version", "unknown").trim();
    }

    private static void clearThreadId() throws ReflectiveOperationException {
        Field id = Thread.class.getDeclaredField("tid");
        id.setAccessible(true);
        id.setLong(Thread.currentThread(), 0);
    }

    /** A loader to which jars can be added. */
    private static final class Loader extends URLClassLoader {
        Loader(String name) {
            super(name, new URL[0], ClassLoader.getPlatformClassLoader());
        }

        void add(String[] jars) throws IOException {
            for (String jar : jars) {
                addURL(Path.of(jar).toUri().toURL());
            }
        }

        Class<?> loaded(String name) {
            return findLoadedClass(name);
        }
    }
}
