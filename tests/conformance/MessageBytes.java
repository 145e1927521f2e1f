import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.util.HexFormat;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.Message;
import org.apache.kafka.common.protocol.ObjectSerializationCache;
import org.apache.kafka.common.protocol.Readable;

/** Reads messages with Kafka's generated classes and writes them again: "NAME VERSION HEX" gives "REST HEX". */
public final class MessageBytes {

    public static void main(String[] arguments) throws Exception {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            String[] words = line.split(" ", -1);
            System.out.println(answer(words[0], Short.parseShort(words[1]), HexFormat.of().parseHex(words[2])));
        }
    }

    private static String answer(String name, short version, byte[] bytes) {
        try {
            Class<?> type = Class.forName("org.apache.kafka.common.message." + name + "Data");
            ByteBuffer buffer = ByteBuffer.wrap(bytes);
            Message message = (Message) type.getConstructor(Readable.class, short.class)
                .newInstance(new ByteBufferAccessor(buffer), version);
            int rest = buffer.remaining();
            ObjectSerializationCache cache = new ObjectSerializationCache();
            ByteBuffer written = ByteBuffer.allocate(message.size(cache, version));
            message.write(new ByteBufferAccessor(written), cache, version);
            return rest + " " + HexFormat.of().formatHex(written.array(), 0, written.position());
        } catch (ReflectiveOperationException | RuntimeException error) {
            Throwable cause = error.getCause() == null ? error : error.getCause();
            return "-1 " + cause.toString().replace('\n', ' ');
        }
    }
}
