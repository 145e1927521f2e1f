import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.Collection;
import java.util.HexFormat;
import java.util.Optional;

/** Windowed keys and their partitions by Kafka Streams' own classes, found by reflection: their packages have moved. */
public final class StreamsWindows {

    private static final String KSTREAM = "org.apache.kafka.streams.kstream.";
    private ClassLoader loader;

    public StreamsWindows() {
    }

    /** Loads these jars, separated by line breaks, apart from Spark's class path. */
    public void open(String jars) throws Exception {
        String[] paths = jars.split("\n");
        URL[] urls = new URL[paths.length];
        for (int i = 0; i < paths.length; i++) {
            urls[i] = Path.of(paths[i]).toUri().toURL();
        }
        loader = new URLClassLoader(urls, ClassLoader.getPlatformClassLoader());
    }

    /** Returns for each key, in hex: the key of a time window, its partition, the key of a session, its partition, a store's key. */
    public String ask(String keys, long start, long end, int partitions) throws Exception {
        StringBuilder out = new StringBuilder();
        for (String key : keys.split("\n")) {
            byte[] bytes = HexFormat.of().parseHex(key);
            Object timeKey = windowed("TimeWindow", bytes, start, end);
            Object timeSerializer = serializer("TimeWindowedSerializer");
            out.append(hex(serialized(timeSerializer, timeKey))).append(' ')
                .append(partition(timeSerializer, timeKey, partitions)).append(' ');
            Object sessionKey = windowed("SessionWindow", bytes, start, end);
            Object sessionSerializer = serializer("SessionWindowedSerializer");
            if (sessionSerializer == null) {
                out.append("- - ");
            } else {
                out.append(hex(serialized(sessionSerializer, sessionKey))).append(' ')
                    .append(partition(sessionSerializer, sessionKey, partitions)).append(' ');
            }
            out.append(storeKey(bytes, start)).append('\n');
        }
        return out.toString();
    }

    private Object windowed(String kind, byte[] key, long start, long end) throws Exception {
        Class<?> window = loader.loadClass(KSTREAM + "internals." + kind);
        Object made = window.getConstructor(long.class, long.class).newInstance(start, end);
        return loader.loadClass(KSTREAM + "Windowed").getConstructors()[0].newInstance(key, made);
    }

    /** Up to 1.0 one class in another package serializes time windows; sessions have none. */
    private Object serializer(String name) throws Exception {
        Object inner = loader.loadClass("org.apache.kafka.common.serialization.ByteArraySerializer").getConstructor().newInstance();
        Class<?> found;
        try {
            found = loader.loadClass(KSTREAM + name);
        } catch (ClassNotFoundException earlier) {
            if (name.startsWith("Session")) {
                return null;
            }
            found = loader.loadClass(KSTREAM + "internals.WindowedSerializer");
        }
        return found.getConstructor(loader.loadClass("org.apache.kafka.common.serialization.Serializer")).newInstance(inner);
    }

    private static byte[] serialized(Object serializer, Object key) throws Exception {
        for (Method method : serializer.getClass().getMethods()) {
            if (method.getName().equals("serialize") && method.getParameterCount() == 2 && !method.isBridge()) {
                return (byte[]) method.invoke(serializer, "topic", key);
            }
        }
        throw new NoSuchMethodException("serialize of " + serializer.getClass());
    }

    private int partition(Object serializer, Object key, int partitions) throws Exception {
        Constructor<?> constructor = loader.loadClass(KSTREAM + "internals.WindowedStreamPartitioner").getDeclaredConstructors()[0];
        constructor.setAccessible(true);
        Object partitioner = constructor.getParameterCount() == 1
            ? constructor.newInstance(serializer)
            : constructor.newInstance("topic", serializer);
        Method found = null; // the one with most parameters: since 4.4 that without headers only throws
        for (Method method : partitioner.getClass().getDeclaredMethods()) {
            if (!method.isBridge() && method.getName().startsWith("partition")
                && (found == null || method.getParameterCount() > found.getParameterCount())) {
                found = method;
            }
        }
        found.setAccessible(true);
        Object chosen = switch (found.getParameterCount()) {
            case 3 -> found.invoke(partitioner, key, null, partitions);
            case 4 -> found.invoke(partitioner, "topic", key, null, partitions);
            default -> found.invoke(partitioner, "topic", key, null, headers(), partitions);
        };
        if (chosen instanceof Optional<?> several) {
            return (Integer) ((Collection<?>) several.get()).iterator().next();
        }
        return (Integer) chosen;
    }

    private Object headers() throws Exception {
        return loader.loadClass("org.apache.kafka.common.header.internals.RecordHeaders").getConstructor().newInstance();
    }

    /** The key in a window store and its changelog, with the sequence number 3. */
    private String storeKey(byte[] key, long start) throws Exception {
        Class<?> bytes = loader.loadClass("org.apache.kafka.common.utils.Bytes");
        Object wrapped = bytes.getMethod("wrap", byte[].class).invoke(null, (Object) key);
        Class<?> schema;
        try {
            schema = loader.loadClass("org.apache.kafka.streams.state.internals.WindowKeySchema");
            Method method = schema.getMethod("toStoreKeyBinary", bytes, long.class, int.class);
            return hex((byte[]) bytes.getMethod("get").invoke(method.invoke(null, wrapped, start, 3)));
        } catch (ClassNotFoundException | NoSuchMethodException earlier) {
            return "-";
        }
    }

    private static String hex(byte[] bytes) {
        return HexFormat.of().formatHex(bytes);
    }
}
