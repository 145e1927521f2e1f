package kafkaoracle.spark;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.zip.CRC32;
import org.apache.spark.sql.api.java.UDF4;

/**
 * A block of keys, answered by the real Java: the release as it was sent, the rule, the space, the block's number in. The keys
 * stay here: whoever asked can make them too. Out come, little-endian: how many there were (int64), the argument (int64), the
 * CRC-32 of their offsets and bytes (int64), an answer for each (int32); then the release that was loaded here and the
 * sha256 of its jar, as text.
 */
public final class KeyBlock implements UDF4<String, String, String, Long, byte[]> {
    private static final long serialVersionUID = 1;
    private static final int KEYS_AT = 16;
    private static final int ANSWERS_AT = 24;

    @Override
    public byte[] call(String release, String rule, String space, Long number) throws Exception {
        Sent sent = Sent.of(release);
        ByteBuffer keys = KeySpace.of(space).block(number);
        CRC32 sum = new CRC32();
        sum.update(keys.array(), KEYS_AT, keys.capacity() - KEYS_AT);
        int length = 4 * Math.toIntExact(keys.getLong(0));
        return Rooms.with(sent, room -> {
            byte[] who = (room.loadedVersion() + " " + sent.answering()).getBytes(StandardCharsets.US_ASCII);
            ByteBuffer cell = ByteBuffer.allocate(ANSWERS_AT + length + who.length).order(ByteOrder.LITTLE_ENDIAN);
            cell.putLong(keys.getLong(0)).putLong(keys.getLong(8)).putLong(sum.getValue());
            room.answer(rule, keys, cell.slice(ANSWERS_AT, length).order(ByteOrder.LITTLE_ENDIAN));
            return cell.put(ANSWERS_AT + length, who).array();
        });
    }
}
