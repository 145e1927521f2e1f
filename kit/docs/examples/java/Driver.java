// A driver for kafka-conformance: the hash of a key, and its partition. Run it with `java Driver.java`, JDK only.
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HexFormat;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

public final class Driver {

    static final String HELLO = """
        {"hello": {"protocol": 1, "name": "example", "version": "1", "language": "java", \
        "rules": ["murmur2", "partition-for-key"]}}""";

    /** The value of a field in one line of JSON: a string without escapes, a number or null. */
    static String field(String line, String name) {
        Matcher found = Pattern.compile("\"" + name + "\" ?: ?(?:\"([^\"]*)\"|(-?\\d+))").matcher(line);
        return !found.find() ? null : found.group(1) != null ? found.group(1) : found.group(2);
    }

    static int murmur2(byte[] key) {
        final int m = 0x5bd1e995;
        ByteBuffer bytes = ByteBuffer.wrap(key).order(ByteOrder.LITTLE_ENDIAN);
        int h = 0x9747b28c ^ key.length;
        while (bytes.remaining() >= 4) {
            int k = bytes.getInt() * m;
            h = h * m ^ (k ^ k >>> 24) * m;
        }
        if (bytes.hasRemaining()) {
            int tail = 0;
            for (int shift = 0; bytes.hasRemaining(); shift += 8) tail |= (bytes.get() & 0xff) << shift;
            h = (h ^ tail) * m;
        }
        h = (h ^ h >>> 13) * m;
        return h ^ h >>> 15;
    }

    static String answer(String line) {
        String key = field(line, "key");
        if (key == null) return "{\"raises\": \"NullPointerException\"}";
        int hash = murmur2(HexFormat.of().parseHex(key));
        if (field(line, "rule").equals("murmur2")) return "{\"hash\": " + hash + "}";
        int partitions = Integer.parseInt(field(line, "partitions"));
        if (partitions == 0) return "{\"raises\": \"ArithmeticException\"}";
        return "{\"partition\": " + (hash & 0x7fffffff) % partitions + "}";
    }

    public static void main(String[] arguments) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
        PrintStream out = new PrintStream(System.out, true, "UTF-8"); // true: flush every line
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String reply = "{\"id\": \"" + field(line, "id") + "\", \"answer\": ";
            out.print((line.startsWith("{\"hello\"") ? HELLO : reply + answer(line) + "}") + "\n");
            out.flush();
        }
    }
}
