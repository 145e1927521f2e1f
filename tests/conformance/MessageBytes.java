import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;

/**
 * Reads messages with the classes of many releases, and writes them again.
 *
 * <p>"release JARS" loads the classes of a release. "NAME VERSION KEY HEX" gives "REST HEX VALUES": how many bytes were not
 * read, the bytes written ("-" where they can only be sent), and the values of the fields: by name where the classes are generated (since 2.4), in order where
 * they are schemas. All of Kafka is reached by reflection, so that one program serves all releases.
 */
public final class MessageBytes {

    private static final HexFormat HEX = HexFormat.of();
    private static final String PROTOCOL = "org.apache.kafka.common.protocol.";

    public static void main(String[] arguments) throws Exception {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        URLClassLoader kafka = null;
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            String[] words = line.split(" ", -1);
            if (words[0].equals("release")) {
                kafka = loader(words[1]);
            } else {
                System.out.println(answer(kafka, words[0], Short.parseShort(words[1]), Short.parseShort(words[2]), HEX.parseHex(words[3])));
            }
        }
    }

    private static URLClassLoader loader(String jars) throws Exception {
        List<URL> urls = new ArrayList<>();
        for (String jar : jars.split(File.pathSeparator)) {
            urls.add(new File(jar).toURI().toURL());
        }
        return new URLClassLoader(urls.toArray(new URL[0]), ClassLoader.getPlatformClassLoader());
    }

    private static String answer(ClassLoader kafka, String name, short version, short key, byte[] bytes) {
        try {
            try {
                kafka.loadClass(PROTOCOL + "ObjectSerializationCache"); // 2.2 and 2.3 have classes, and do not use all
            } catch (ClassNotFoundException before) {
                return bySchema(kafka, name, version, key, ByteBuffer.wrap(bytes));
            }
            Class<?> type = kafka.loadClass("org.apache.kafka.common.message." + name + "Data");
            return generated(kafka, type, version, ByteBuffer.wrap(bytes));
        } catch (ReflectiveOperationException | RuntimeException error) {
            Throwable cause = error instanceof InvocationTargetException ? error.getCause() : error;
            return "-1 " + cause.toString().replace('\n', ' ');
        }
    }

    private static String generated(ClassLoader kafka, Class<?> type, short version, ByteBuffer buffer)
            throws ReflectiveOperationException {
        Class<?> accessor = kafka.loadClass(PROTOCOL + "ByteBufferAccessor");
        Class<?> writable = kafka.loadClass(PROTOCOL + "Writable");
        Class<?> cache = kafka.loadClass(PROTOCOL + "ObjectSerializationCache");
        boolean apart = hasRecordsApart(kafka, type);
        Class<?> reader = apart ? kafka.loadClass(PROTOCOL + "RecordsReadable") : accessor;
        Object message = type.getConstructor(kafka.loadClass(PROTOCOL + "Readable"), short.class)
            .newInstance(reader.getConstructor(ByteBuffer.class).newInstance(buffer), version);
        int rest = buffer.remaining();
        StringBuilder values = new StringBuilder(); // first: what writing reads of a buffer is gone
        append(values, message);
        if (apart) {
            return rest + " - " + values;
        }
        Object sizes = cache.getConstructor().newInstance();
        int size = (int) type.getMethod("size", cache, short.class).invoke(message, sizes, version);
        ByteBuffer written = ByteBuffer.allocate(size);
        type.getMethod("write", writable, cache, short.class)
            .invoke(message, accessor.getConstructor(ByteBuffer.class).newInstance(written), sizes, version);
        return rest + " " + HEX.formatHex(written.array(), 0, written.position()) + " " + values;
    }

    /** 2.7 reads a fetch response by a class for records, and writes it to the network alone. */
    private static boolean hasRecordsApart(ClassLoader kafka, Class<?> type) {
        try {
            kafka.loadClass(PROTOCOL + "RecordsReadable");
            return type.getSimpleName().equals("FetchResponseData");
        } catch (ClassNotFoundException other) {
            return false;
        }
    }

    private static String bySchema(ClassLoader kafka, String name, short version, short key, ByteBuffer buffer)
            throws ReflectiveOperationException {
        Object schema;
        try {
            schema = schema(kafka, name, version, key);
        } catch (InvocationTargetException missing) {
            return "absent"; // the release does not have the API, or not this version
        }
        if (schema == null) {
            return "absent";
        }
        Object struct = schema.getClass().getMethod("read", ByteBuffer.class).invoke(schema, buffer);
        int rest = buffer.remaining();
        StringBuilder values = new StringBuilder();
        append(values, struct);
        ByteBuffer written = ByteBuffer.allocate((int) struct.getClass().getMethod("sizeOf").invoke(struct));
        struct.getClass().getMethod("writeTo", ByteBuffer.class).invoke(struct, written);
        return rest + " " + HEX.formatHex(written.array(), 0, written.position()) + " " + values;
    }

    /** Up to 0.10.2 ProtoUtils knows the schemas, then ApiKeys; those of the headers are constants. */
    private static Object schema(ClassLoader kafka, String name, short version, short key) throws ReflectiveOperationException {
        if (name.endsWith("Header")) {
            if (version != (name.equals("RequestHeader") ? 1 : 0)) {
                return null;
            }
            try {
                String constant = name.equals("RequestHeader") ? "REQUEST_HEADER" : "RESPONSE_HEADER";
                return kafka.loadClass(PROTOCOL + "Protocol").getField(constant).get(null);
            } catch (NoSuchFieldException since) {
                Class<?> header = kafka.loadClass("org.apache.kafka.common.requests." + name);
                for (String constant : new String[] {"SCHEMA", "RESPONSE_HEADER_SCHEMA_V" + version, "SCHEMA_V" + version}) {
                    try {
                        Field field = header.getDeclaredField(constant);
                        field.setAccessible(true);
                        return field.get(null);
                    } catch (NoSuchFieldException other) {
                        continue;
                    }
                }
                throw new NoSuchFieldException("no schema of " + name);
            }
        }
        String method = name.endsWith("Request") ? "requestSchema" : "responseSchema";
        try {
            Class<?> utilities = kafka.loadClass(PROTOCOL + "ProtoUtils");
            return utilities.getMethod(method, int.class, int.class).invoke(null, (int) key, (int) version);
        } catch (ClassNotFoundException since) {
            Class<?> keys = kafka.loadClass(PROTOCOL + "ApiKeys");
            Object api = keys.getMethod("forId", int.class).invoke(null, (int) key);
            return keys.getMethod(method, short.class).invoke(api, version);
        }
    }

    /** Appends a value as JSON: a text is "s" and its bytes in hex, bytes are "b" and hex, a UUID is "u" and hex. */
    private static void append(StringBuilder out, Object value) throws ReflectiveOperationException {
        if (value == null || value instanceof Boolean) {
            out.append(value);
        } else if (value instanceof Double) {
            out.append("\"f").append(Double.doubleToRawLongBits((Double) value)).append('"');
        } else if (value instanceof Number) {
            out.append(value);
        } else if (value instanceof String) {
            out.append("\"s").append(HEX.formatHex(((String) value).getBytes(StandardCharsets.UTF_8))).append('"');
        } else if (value instanceof byte[]) {
            out.append("\"b").append(HEX.formatHex((byte[]) value)).append('"');
        } else if (value instanceof ByteBuffer) {
            byte[] bytes = new byte[((ByteBuffer) value).remaining()];
            ((ByteBuffer) value).duplicate().get(bytes);
            append(out, bytes);
        } else if (value instanceof Iterable && !value.getClass().getName().contains(".record.")) {
            list(out, (Iterable<?>) value);
        } else if (value.getClass().isArray()) {
            List<Object> elements = new ArrayList<>();
            for (int at = 0; at < Array.getLength(value); at++) {
                elements.add(Array.get(value, at));
            }
            list(out, elements);
        } else if (value.getClass().getSimpleName().equalsIgnoreCase("uuid")) {
            long most = (long) value.getClass().getMethod("getMostSignificantBits").invoke(value);
            long least = (long) value.getClass().getMethod("getLeastSignificantBits").invoke(value);
            out.append("\"u").append(HEX.toHexDigits(most)).append(HEX.toHexDigits(least)).append('"');
        } else if (value.getClass().getName().contains(".common.message.")) {
            fields(out, value);
        } else if (value.getClass().getName().endsWith("types.Struct")) {
            struct(out, value);
        } else {
            Method buffer = value.getClass().getMethod("buffer"); // records
            buffer.setAccessible(true);
            append(out, buffer.invoke(value));
        }
    }

    private static void list(StringBuilder out, Iterable<?> values) throws ReflectiveOperationException {
        String before = "[";
        for (Object each : values) {
            out.append(before);
            append(out, each);
            before = ",";
        }
        out.append(before.equals("[") ? "[]" : "]");
    }

    private static void fields(StringBuilder out, Object message) throws ReflectiveOperationException {
        String before = "{";
        for (Field field : message.getClass().getDeclaredFields()) {
            boolean ofCollection = field.getName().equals("prev") || field.getName().equals("next");
            if (Modifier.isStatic(field.getModifiers()) || ofCollection || field.getName().startsWith("_")) {
                continue;
            }
            field.setAccessible(true);
            out.append(before).append('"').append(field.getName()).append("\":");
            append(out, field.get(message));
            before = ",";
        }
        out.append(before.equals("{") ? "{}" : "}");
    }

    private static void struct(StringBuilder out, Object struct) throws ReflectiveOperationException {
        List<Object> values = new ArrayList<>();
        Object schema = struct.getClass().getMethod("schema").invoke(struct);
        Object fields = schema.getClass().getMethod("fields").invoke(schema);
        for (int at = 0; at < Array.getLength(fields); at++) {
            values.add(struct.getClass().getMethod("get", String.class).invoke(struct, nameOf(Array.get(fields, at))));
        }
        list(out, values);
    }

    /** A schema has fields, or since 1.0 fields that are bound to it. */
    private static String nameOf(Object field) throws ReflectiveOperationException {
        Object defined = field;
        for (Field each : field.getClass().getFields()) {
            if (each.getName().equals("def")) {
                defined = each.get(field);
            }
        }
        return (String) defined.getClass().getField("name").get(defined);
    }
}
