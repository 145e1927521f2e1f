package kafkaoracle.spark;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import kafkaoracle.host.OracleHost;
import org.apache.spark.sql.api.java.UDF2;

/**
 * Answers questions as JSON lines, as OracleHost does, after a line with the loaded release and its jar's sha256.
 *
 * One call at a time in this JVM, since the thread that answers has the id 0 in every sandbox: locks that tell threads apart
 * by their ids would make two of them wait for each other.
 */
public final class Answers implements UDF2<String, byte[], byte[]> {
    private static final long serialVersionUID = 1;
    private static final Object ONE_AT_A_TIME = new Object();

    @Override
    public byte[] call(String release, byte[] lines) throws Exception {
        SentRelease sent = SentRelease.parse(release);
        synchronized (ONE_AT_A_TIME) {
            return SandboxPool.with(sent, sandbox -> {
                ByteArrayOutputStream out = new ByteArrayOutputStream();
                out.writeBytes((sandbox.loadedVersion() + " " + sent.answeringSha256() + "\n").getBytes(StandardCharsets.US_ASCII));
                out.writeBytes(OracleHost.answer(sandbox, lines));
                return out.toByteArray();
            });
        }
    }
}
