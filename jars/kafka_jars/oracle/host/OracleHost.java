package kafkaoracle.host;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.ObjectReader;
import com.fasterxml.jackson.databind.ObjectWriter;
import java.io.ByteArrayOutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The one object that Python calls through py4j. It is loaded with Spark's classes, among them Jackson, and holds every
 * open release, each behind a class loader that sees none of these.
 *
 * Only the JDK's types cross between this class and a release, since both sides share no others: a question is a Map, an
 * answer is a Map, a column of keys is a ByteBuffer. Python calls no other class, because py4j caches methods by class name:
 * it cannot call classes of one name in two releases.
 */
public final class OracleHost {
    private static final ObjectReader QUESTIONS = new ObjectMapper().readerFor(Map.class);
    private static final ObjectWriter ANSWERS = new ObjectMapper().writer();

    private final Map<String, ReleaseSandbox> sandboxes = new ConcurrentHashMap<>();

    /** Opens a release and returns the version read back from its loaded jar, which the caller compares with its own. */
    public String open(String release, String jars, String rules) throws Exception {
        ReleaseSandbox sandbox = new ReleaseSandbox(release, jars.split("\n"), rules.split("\n"));
        sandboxes.put(release, sandbox);
        return sandbox.loadedVersion();
    }

    /** Adds jars behind those of an open release, and returns the jar from which {@code witness}, a class in them, was loaded. */
    public String extend(String release, String jars, String witness) throws Exception {
        return sandbox(release).extend(jars.split("\n"), witness);
    }

    /**
     * Answers the JSON lines of one file with JSON lines in another, in order; the first one names the release and the jar that
     * answered. py4j would carry them as escaped text, which took longer than to write and read them.
     */
    public void answer(String release, String questions, String answers) throws Exception {
        Files.write(Path.of(answers), answer(sandbox(release), Files.readAllBytes(Path.of(questions))));
    }

    /** The same in a given sandbox, as bytes. */
    public static byte[] answer(ReleaseSandbox sandbox, byte[] lines) throws Exception {
        ByteArrayOutputStream out = new ByteArrayOutputStream(lines.length + 256);
        write(out, Map.of("release", sandbox.loadedVersion(), "jar", sandbox.loadedFrom()));
        List<Map<String, Object>> questions = QUESTIONS.<Map<String, Object>>readValues(lines).readAll();
        for (Map<String, Object> answer : sandbox.answer(questions)) {
            write(out, answer);
        }
        return out.toByteArray();
    }

    /** Answers a column of keys, file to file, and returns the nanoseconds that the release's own loop took. */
    public long bulk(String release, String rule, String in, String out) throws Exception {
        return sandbox(release).bulk(rule, in, out);
    }

    public void close(String release) throws Exception {
        ReleaseSandbox sandbox = sandboxes.remove(release);
        if (sandbox != null) {
            sandbox.close();
        }
    }

    private ReleaseSandbox sandbox(String release) {
        ReleaseSandbox sandbox = sandboxes.get(release);
        if (sandbox == null) {
            throw new IllegalStateException("release " + release + " is not open");
        }
        return sandbox;
    }

    private static void write(ByteArrayOutputStream out, Map<String, Object> line) throws Exception {
        out.write(ANSWERS.writeValueAsBytes(line));
        out.write('\n');
    }
}
