import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;

/** Partitions by the classes of Spring Cloud Stream, Debezium and Maxwell, found by reflection in jars of their own. */
public final class ProducerPartitions {

    private ClassLoader loader;

    public ProducerPartitions() {
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

    /** Returns the partitions of keys in hex, one on each line: of a Long where a key has eight bytes and "long" is set, else of text. */
    public String ask(String product, String keys, boolean isLong, int partitions) throws Exception {
        Thread thread = Thread.currentThread();
        ClassLoader before = thread.getContextClassLoader();
        thread.setContextClassLoader(loader); // Spring and Debezium find their resources by it
        try {
            StringBuilder out = new StringBuilder();
            for (String hex : keys.split("\n")) {
                byte[] bytes = HexFormat.of().parseHex(hex);
                Object key = isLong ? ByteBuffer.wrap(bytes).getLong() : new String(bytes, StandardCharsets.UTF_8);
                out.append(switch (product) {
                    case "spring" -> spring(key, partitions);
                    case "debezium" -> debezium(key, partitions);
                    case "maxwell" -> maxwell("default", (String) key, partitions);
                    default -> maxwell("murmur3", (String) key, partitions);
                }).append('\n');
            }
            return out.toString();
        } finally {
            thread.setContextClassLoader(before);
        }
    }

    private int spring(Object key, int partitions) throws Exception {
        String stream = "org.springframework.cloud.stream.binder.";
        Class<?> expression = load("org.springframework.expression.Expression");
        Class<?> context = load("org.springframework.expression.EvaluationContext");
        Class<?> factory = load("org.springframework.beans.factory.config.ConfigurableListableBeanFactory");
        Object properties = created(stream + "ProducerProperties");
        Object payload = load("org.springframework.expression.ExpressionParser").getMethod("parseExpression", String.class)
            .invoke(created("org.springframework.expression.spel.standard.SpelExpressionParser"), "payload");
        properties.getClass().getMethod("setPartitionKeyExpression", expression).invoke(properties, payload);
        properties.getClass().getMethod("setPartitionCount", int.class).invoke(properties, partitions);
        Object handler = load(stream + "PartitionHandler").getConstructor(context, properties.getClass(), factory).newInstance(
            created("org.springframework.expression.spel.support.StandardEvaluationContext"), properties,
            created("org.springframework.beans.factory.support.DefaultListableBeanFactory"));
        handler.getClass().getMethod("setPartitionCount", int.class).invoke(handler, partitions);
        Object message = load("org.springframework.messaging.support.GenericMessage").getConstructor(Object.class).newInstance(key);
        Class<?> kind = load("org.springframework.messaging.Message");
        return (Integer) handler.getClass().getMethod("determinePartition", kind).invoke(handler, message);
    }

    private int debezium(Object key, int partitions) throws Exception {
        Object routing = created("io.debezium.transforms.partitions.PartitionRouting");
        routing.getClass().getMethod("configure", Map.class).invoke(routing, Map.of(
            "partition.payload.fields", "after.id", "partition.topic.num", Integer.toString(partitions)));
        Method compute = routing.getClass().getDeclaredMethod("computePartition", Integer.class, List.class);
        compute.setAccessible(true);
        return (Integer) compute.invoke(routing, partitions, List.of(key));
    }

    /** Places a row of the database that the key names: by default, Maxwell's producer partitions by it. */
    private int maxwell(String hash, String database, int partitions) throws Exception {
        Class<?> kind = load("com.zendesk.maxwell.row.RowMap");
        Class<?> position = load("com.zendesk.maxwell.replication.Position");
        Object row = kind.getConstructor(String.class, String.class, String.class, Long.class, List.class, position)
            .newInstance("insert", database, "orders", 0L, List.of("id"), null);
        Class<?> type = load("com.zendesk.maxwell.producer.partitioners.MaxwellKafkaPartitioner");
        Object partitioner = type.getConstructor(String.class, String.class, String.class, String.class)
            .newInstance(hash, "database", null, null);
        return (Integer) type.getMethod("kafkaPartition", kind, int.class).invoke(partitioner, row, partitions);
    }

    private Object created(String name) throws Exception {
        return load(name).getConstructor().newInstance();
    }

    private Class<?> load(String name) throws Exception {
        return loader.loadClass(name);
    }
}
