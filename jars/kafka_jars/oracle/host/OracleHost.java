package kafkaoracle.host;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.ObjectReader;
import com.fasterxml.jackson.databind.ObjectWriter;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The one object Python talks to, through py4j. It lives beside Spark's classes, where Jackson is, and holds every
 * release that was opened, each behind a class loader that does not see any of this.
 *
 * Between here and a release only the JDK's own types cross, since those are the only classes both sides share: a
 * question is a Map, an answer is a Map, a column of keys is a ByteBuffer. And Python only ever calls this class,
 * because py4j remembers methods by class name: two releases' classes of one name cannot both be called from it.
 */
public final class OracleHost {
    private static final ObjectReader QUESTIONS = new ObjectMapper().readerFor(Map.class);
    private static final ObjectWriter ANSWERS = new ObjectMapper().writer();

    private final Map<String, ReleaseSandbox> sandboxes = new ConcurrentHashMap<>();

    /** Opens a release; the version read back from its loaded jar, which need not be the one that was hoped for. */
    public String open(String release, String jars, String rules) throws Exception {
        ReleaseSandbox sandbox = new ReleaseSandbox(release, jars.split("\n"), rules.split("\n"));
        sandboxes.put(release, sandbox);
        return sandbox.loadedVersion();
    }

    /** Puts more jars behind those of an open release; the jar that {@code witness}, a class of theirs, was loaded from. */
    public String extend(String release, String jars, String witness) throws Exception {
        return sandbox(release).extend(jars.split("\n"), witness);
    }

    /**
     * JSON lines in, JSON lines out, in order; the first line out names the release and the jar that answered. They go out
     * as text: py4j turns bytes into Python's one by one, which took longer than answering.
     */
    public String answer(String release, byte[] lines) throws Exception {
        return new String(answer(sandbox(release), lines), StandardCharsets.UTF_8);
    }

    /** The same of a sandbox that is somebody else's, as bytes. */
    public static byte[] answer(ReleaseSandbox sandbox, byte[] lines) throws Exception {
        ByteArrayOutputStream out = new ByteArrayOutputStream(lines.length + 256);
        write(out, Map.of("release", sandbox.loadedVersion(), "jar", sandbox.loadedFrom()));
        List<Map<String, Object>> asked = new ArrayList<>();
        for (String line : new String(lines, StandardCharsets.UTF_8).split("\n")) {
            asked.add(QUESTIONS.readValue(line));
        }
        for (Map<String, Object> answered : sandbox.answer(asked)) {
            write(out, answered);
        }
        return out.toByteArray();
    }

    /** A whole column: keys in one file, results in another; nanoseconds spent in the release's own loop. */
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
