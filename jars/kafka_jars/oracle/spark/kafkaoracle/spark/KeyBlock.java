package kafkaoracle.spark;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
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
        return Rooms.with(sent, room -> {
            byte[] who = (room.loadedVersion() + " " + sent.answering()).getBytes(StandardCharsets.US_ASCII);
            ByteBuffer block = KeySpace.of(space).block(number, who.length);
            int length = 4 * Math.toIntExact(block.getLong(0));
            int answersAt = block.capacity() - who.length - length;
            room.answer(rule, block, block.slice(answersAt, length).order(ByteOrder.LITTLE_ENDIAN));
            block.put(answersAt + length, who);
            return block.array();
        });
    }
}
