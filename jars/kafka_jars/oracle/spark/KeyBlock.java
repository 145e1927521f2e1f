package kafkaoracle.spark;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.zip.CRC32;
import org.apache.spark.sql.api.java.UDF5;

/**
 * A block of keys, answered by the real Java: the release as it was sent, the rule, the space, the block's number and what is
 * claimed of it in. The keys stay here: whoever asked can make them too.
 *
 * Out come, little-endian, int64 each: how many keys there were, the argument, the CRC-32 of their offsets and bytes, the
 * CRC-32 of the answers (int32 each, little-endian). A claim is just these four. Behind them are how many answers follow: all
 * where the claim was another one or there was none, else none. Then the answers, then the release that was loaded here and
 * the sha256 of its jar, as text.
 */
public final class KeyBlock implements UDF5<String, String, String, Long, byte[], byte[]> {
    private static final long serialVersionUID = 1;
    private static final int KEYS_AT = 16;
    private static final int CLAIM = 32;
    private static final int ANSWERS_AT = 40;

    @Override
    public byte[] call(String release, String rule, String space, Long number, byte[] claim) throws Exception {
        Sent sent = Sent.of(release);
        ByteBuffer keys = KeySpace.of(space).block(number);
        int length = 4 * Math.toIntExact(keys.getLong(0));
        ByteBuffer answers = ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
        byte[] who = SandboxPool.with(sent, sandbox -> {
            sandbox.answer(rule, keys, answers);
            return (sandbox.loadedVersion() + " " + sent.answering()).getBytes(StandardCharsets.US_ASCII);
        });
        ByteBuffer said = ByteBuffer.allocate(CLAIM).order(ByteOrder.LITTLE_ENDIAN);
        said.putLong(keys.getLong(0)).putLong(keys.getLong(8));
        said.putLong(sum(keys, KEYS_AT)).putLong(sum(answers, 0));
        int told = Arrays.equals(claim, said.array()) ? 0 : length;
        ByteBuffer cell = ByteBuffer.allocate(ANSWERS_AT + told + who.length).order(ByteOrder.LITTLE_ENDIAN);
        return cell.put(said.array()).putLong(told / 4).put(answers.array(), 0, told).put(who).array();
    }

    private static long sum(ByteBuffer of, int from) {
        CRC32 sum = new CRC32();
        sum.update(of.array(), from, of.capacity() - from);
        return sum.getValue();
    }
}
