package kafkaoracle.spark;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import kafkaoracle.host.ReleaseSandbox;
import org.apache.spark.SparkFiles;

/**
 * A release as the driver sent it, by {@code SparkContext.addFile}: the names of its jars, the sha256 of each, and the class
 * of each rule. Each jar is checked against its sha256 before it is loaded; what was loaded is then read back.
 */
final class SentRelease {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Map<String, SentRelease> KNOWN = new ConcurrentHashMap<>();

    final String text;
    final String release;
    private final JsonNode fields;

    private SentRelease(String text) {
        try {
            this.text = text;
            this.fields = JSON.readTree(text);
            this.release = fields.get("release").asText();
        } catch (IOException broken) {
            throw new IllegalStateException("the driver sent no JSON: " + broken.getMessage(), broken);
        }
    }

    static SentRelease parse(String text) {
        return KNOWN.computeIfAbsent(text, SentRelease::new);
    }

    /** The sha256 of the jar whose classes answer: the clients', or the broker's if the rule is about that. */
    String answeringSha256() {
        return (fields.hasNonNull("broker") ? fields.get("broker") : fields).get("jars").get(0).get("sha256").asText();
    }

    /** Opens a new sandbox for this release; fails if what it loads is not what was sent. */
    ReleaseSandbox open() throws Exception {
        List<String> jars = checked(fields.get("jars"));
        List<String> rules = new ArrayList<>();
        fields.get("rules").fields().forEachRemaining(rule -> rules.add(rule.getKey() + "=" + rule.getValue().asText()));
        ReleaseSandbox sandbox = new ReleaseSandbox(release, jars.toArray(new String[0]), rules.toArray(new String[0]));
        check(sandbox.loadedVersion(), sandbox.loadedFrom(), jars.get(0));
        if (fields.hasNonNull("broker")) {
            List<String> more = checked(fields.get("broker").get("jars"));
            String from = sandbox.extend(more.toArray(new String[0]), fields.get("broker").get("witness").asText());
            check(sandbox.loadedVersion(), from, more.get(0));
        }
        return sandbox;
    }

    private void check(String loaded, String from, String jar) throws IOException {
        if (!loaded.equals(release)) {
            throw OneLineError.of(
                "asked for release " + release + " and the jar that was loaded on an executor says it is " + loaded
                    + ": correct releases.toml, or stop what changes " + from);
        }
        if (!Path.of(from).toRealPath().equals(Path.of(jar).toRealPath())) {
            throw OneLineError.of("release " + release + " was loaded from " + from + " and not from " + jar);
        }
    }

    private static List<String> checked(JsonNode jars) throws Exception {
        List<String> paths = new ArrayList<>();
        for (JsonNode jar : jars) {
            String path = SparkFiles.get(jar.get("file").asText());
            String found = sha256(path);
            if (!found.equals(jar.get("sha256").asText())) {
                throw OneLineError.of(
                    "an executor has " + path + " with sha256 " + found + " and not " + jar.get("sha256").asText()
                        + ": it was changed after it was sent; run the same command again");
            }
            paths.add(path);
        }
        return paths;
    }

    private static String sha256(String path) throws Exception {
        MessageDigest digest = MessageDigest.getInstance("SHA-256");
        try (InputStream file = new DigestInputStream(Files.newInputStream(Path.of(path)), digest)) {
            file.transferTo(OutputStream.nullOutputStream());
        } catch (IOException absent) {
            throw OneLineError.of("an executor cannot read " + path + ": " + absent);
        }
        return HexFormat.of().formatHex(digest.digest());
    }
}
