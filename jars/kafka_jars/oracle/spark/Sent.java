package kafkaoracle.spark;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.InputStream;
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
 * A release as the driver sent it, by {@code SparkContext.addFile}: the names of its jars, the sha256 of each, which class
 * asks which rule. Before anything is loaded from a jar here it is held to its sha256; what was loaded is then read back.
 */
final class Sent {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Map<String, Sent> KNOWN = new ConcurrentHashMap<>();

    final String text;
    final String release;
    private final JsonNode told;

    private Sent(String text) {
        try {
            this.text = text;
            this.told = JSON.readTree(text);
            this.release = told.get("release").asText();
        } catch (IOException broken) {
            throw new IllegalStateException("what the driver sent is no JSON: " + broken.getMessage(), broken);
        }
    }

    static Sent of(String text) {
        return KNOWN.computeIfAbsent(text, Sent::new);
    }

    /** The sha256 of the jar that answers: the clients', or the broker's where that is asked. */
    String answering() {
        return (told.hasNonNull("broker") ? told.get("broker") : told).get("jars").get(0).get("sha256").asText();
    }

    /** A sandbox of its own for this release. Refused where it is not what was sent. */
    ReleaseSandbox open() throws Exception {
        List<String> jars = checked(told.get("jars"));
        List<String> rules = new ArrayList<>();
        told.get("rules").fields().forEachRemaining(rule -> rules.add(rule.getKey() + "=" + rule.getValue().asText()));
        ReleaseSandbox sandbox = new ReleaseSandbox(release, jars.toArray(new String[0]), rules.toArray(new String[0]));
        hold(sandbox.loadedVersion(), sandbox.loadedFrom(), jars.get(0));
        if (told.hasNonNull("broker")) {
            List<String> more = checked(told.get("broker").get("jars"));
            String from = sandbox.extend(more.toArray(new String[0]), told.get("broker").get("witness").asText());
            hold(sandbox.loadedVersion(), from, more.get(0));
        }
        return sandbox;
    }

    private void hold(String loaded, String from, String jar) throws IOException {
        if (!loaded.equals(release)) {
            throw Refused.because(
                "asked for release " + release + " and the jar that was loaded on an executor says it is " + loaded
                    + ": mend releases.toml, or end what changes " + from);
        }
        if (!Path.of(from).toRealPath().equals(Path.of(jar).toRealPath())) {
            throw Refused.because("release " + release + " was loaded from " + from + " and not from " + jar);
        }
    }

    private static List<String> checked(JsonNode jars) throws Exception {
        List<String> paths = new ArrayList<>();
        for (JsonNode jar : jars) {
            String path = SparkFiles.get(jar.get("file").asText());
            String found = sha256(path);
            if (!found.equals(jar.get("sha256").asText())) {
                throw Refused.because(
                    "an executor has " + path + " with sha256 " + found + " and not " + jar.get("sha256").asText()
                        + ": it was changed on its way; run it again");
            }
            paths.add(path);
        }
        return paths;
    }

    private static String sha256(String path) throws Exception {
        MessageDigest digest = MessageDigest.getInstance("SHA-256");
        try (InputStream file = new DigestInputStream(Files.newInputStream(Path.of(path)), digest)) {
            file.transferTo(java.io.OutputStream.nullOutputStream());
        } catch (IOException absent) {
            throw Refused.because("an executor cannot read " + path + ": " + absent);
        }
        return HexFormat.of().formatHex(digest.digest());
    }
}
