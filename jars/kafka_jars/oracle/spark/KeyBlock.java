package kafkaoracle.spark;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.zip.CRC32;
import org.apache.spark.sql.api.java.UDF5;

/**
 * Kafka's answers to a block of keys. Arguments: the release that was sent, the rule, the key space, the number of the
 * block, and the caller's claim about it. The keys are not returned: the caller can make them too.
 *
 * Returned are, little-endian, int64 each: the number of keys, the argument, the CRC-32 of the keys' offsets and bytes, and
 * the CRC-32 of the answers (int32 each, little-endian); a claim is these four. Then the number of answers that follow: all
 * if the claim was different or missing, else 0. Then the answers, the release that was loaded and the sha256 of its jar, as
 * text.
 */
public final class KeyBlock implements UDF5<String, String, String, Long, byte[], byte[]> {
    private static final long serialVersionUID = 1;
    private static final int KEYS_AT = 16;
    private static final int CLAIM = 32;
    private static final int ANSWERS_AT = 40;

    @Override
    public byte[] call(String release, String rule, String space, Long number, byte[] claim) throws Exception {
        SentRelease sent = SentRelease.parse(release);
        ByteBuffer keys = KeySpace.parse(space).block(number);
        int length = 4 * Math.toIntExact(keys.getLong(0));
        ByteBuffer answers = ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
        byte[] answeredBy = SandboxPool.with(sent, sandbox -> {
            sandbox.answer(rule, keys, answers);
            return (sandbox.loadedVersion() + " " + sent.answeringSha256()).getBytes(StandardCharsets.US_ASCII);
        });
        ByteBuffer facts = ByteBuffer.allocate(CLAIM).order(ByteOrder.LITTLE_ENDIAN);
        facts.putLong(keys.getLong(0)).putLong(keys.getLong(8));
        facts.putLong(sum(keys, KEYS_AT)).putLong(sum(answers, 0));
        int returned = Arrays.equals(claim, facts.array()) ? 0 : length;
        ByteBuffer cell = ByteBuffer.allocate(ANSWERS_AT + returned + answeredBy.length).order(ByteOrder.LITTLE_ENDIAN);
        return cell.put(facts.array()).putLong(returned / 4).put(answers.array(), 0, returned).put(answeredBy).array();
    }

    private static long sum(ByteBuffer bytes, int from) {
        CRC32 sum = new CRC32();
        sum.update(bytes.array(), from, bytes.capacity() - from);
        return sum.getValue();
    }
}
