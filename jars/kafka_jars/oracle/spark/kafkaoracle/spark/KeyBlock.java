package kafkaoracle.spark;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.apache.spark.sql.api.java.UDF4;

/**
 * A block of keys with the real Java's answers: the release as it was sent, the rule, the space, the block's number in; out
 * comes the block (see KeySpace), and behind it the release that was loaded here and the sha256 of its jar.
 */
public final class KeyBlock implements UDF4<String, String, String, Long, byte[]> {
    private static final long serialVersionUID = 1;

    @Override
    public byte[] call(String release, String rule, String space, Long number) throws Exception {
        Sent sent = Sent.of(release);
        ByteBuffer block = KeySpace.of(space).block(number);
        int answersAt = KeySpace.answersAt(block);
        String loaded = Rooms.with(sent, room -> {
            ByteBuffer answers = block.slice(answersAt, block.capacity() - answersAt).order(ByteOrder.LITTLE_ENDIAN);
            room.answer(rule, block, answers);
            return room.loadedVersion();
        });
        byte[] who = (loaded + " " + sent.answering()).getBytes(StandardCharsets.US_ASCII);
        byte[] out = Arrays.copyOf(block.array(), block.capacity() + who.length);
        System.arraycopy(who, 0, out, block.capacity(), who.length);
        return out;
    }
}
