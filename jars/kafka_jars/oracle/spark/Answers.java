package kafkaoracle.spark;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import kafkaoracle.host.OracleHost;
import org.apache.spark.sql.api.java.UDF2;

/**
 * Questions as JSON lines, answered as OracleHost does, behind a line with the release that was loaded and its jar's sha256.
 *
 * One at a time in this JVM, since the thread that answers has the id 0 in every sandbox: two of them would wait for each other at
 * locks that tell threads apart by their ids.
 */
public final class Answers implements UDF2<String, byte[], byte[]> {
    private static final long serialVersionUID = 1;
    private static final Object ONE_AT_A_TIME = new Object();

    @Override
    public byte[] call(String release, byte[] lines) throws Exception {
        Sent sent = Sent.of(release);
        synchronized (ONE_AT_A_TIME) {
            return SandboxPool.with(sent, sandbox -> {
                ByteArrayOutputStream out = new ByteArrayOutputStream();
                out.writeBytes((sandbox.loadedVersion() + " " + sent.answering() + "\n").getBytes(StandardCharsets.US_ASCII));
                out.writeBytes(OracleHost.answer(sandbox, lines));
                return out.toByteArray();
            });
        }
    }
}
