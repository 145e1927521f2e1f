package kafkaoracle.log_index;

import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;

/**
 * A folder for the files of one question at a time: made at first use, emptied after every question, removed with the JVM.
 * It lies in the folder that the kit removes at its end (else in java.io.tmpdir), so it is removed even if the JVM is killed.
 */
final class IndexFolder {
    private Path folder;

    File file(long baseOffset, String kind, String suffix) throws IOException {
        if (folder == null) {
            String scratch = System.getProperty("kafka.conformance.scratch");
            folder = scratch == null ? Files.createTempDirectory("indexes-") : Files.createTempDirectory(Path.of(scratch), "indexes-");
            Runtime.getRuntime().addShutdownHook(new Thread(this::remove));
        }
        String sign = baseOffset < 0 ? "-" : "";
        return folder.resolve(sign + String.format("%020d", Math.abs(baseOffset)) + kind + suffix).toFile();
    }

    /** A text of Kafka's with names of files in place of their paths. */
    String withoutPaths(String text) {
        return folder == null ? text : text.replace(folder.toString() + File.separator, "");
    }

    /** The bytes of a file that exists: as hex, or as a number of entries that ascend by steps, some of them replaced. */
    static byte[] content(Object file, boolean timeFirst) {
        if (file instanceof String hex) {
            return HexFormat.of().parseHex(hex);
        }
        Map<?, ?> filled = (Map<?, ?>) file;
        int count = ((Number) filled.get("count")).intValue();
        int size = timeFirst ? 12 : 8;
        ByteBuffer bytes = ByteBuffer.allocate(count * size);
        for (int slot = 0; slot < count; slot++) {
            put(bytes, slot * size, (List<?>) filled.get("step"), slot + 1, timeFirst);
        }
        List<?> patches = (List<?>) filled.get("patches");
        for (Object patch : patches == null ? List.of() : patches) {
            List<?> fields = (List<?>) patch;
            put(bytes, number(fields, 0) * size, fields.subList(1, 3), 1, timeFirst);
        }
        return bytes.array();
    }

    private static void put(ByteBuffer bytes, int place, List<?> entry, int times, boolean timeFirst) {
        bytes.position(place);
        if (timeFirst) {
            bytes.putLong((long) number(entry, 0) * times);
        } else {
            bytes.putInt(number(entry, 0) * times);
        }
        bytes.putInt(number(entry, 1) * times);
    }

    private static int number(List<?> fields, int place) {
        return ((Number) fields.get(place)).intValue();
    }

    void empty() {
        File[] files = folder == null ? null : folder.toFile().listFiles();
        if (files != null) {
            for (File file : files) {
                file.delete();
            }
        }
    }

    private void remove() {
        empty();
        folder.toFile().delete();
    }
}
