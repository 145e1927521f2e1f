package kafkaoracle.broker_producer_state;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A folder for the files of one script at a time: made when first asked for, emptied after every script, and gone with
 * the JVM. It lies in the folder that whoever started the JVM removes, so it is gone even if the JVM was killed.
 */
final class SnapshotFolder {
    private Path folder;

    File absent() {
        return new File("/nonexistent/kafka-conformance");
    }

    File made() throws IOException {
        if (folder == null) {
            String home = System.getProperty("kafka.conformance.room");
            folder = home == null ? Files.createTempDirectory("snapshots-") : Files.createTempDirectory(Path.of(home), "snapshots-");
            Runtime.getRuntime().addShutdownHook(new Thread(this::remove));
        }
        return folder.toFile();
    }

    File file(long offset) throws IOException {
        return new File(made(), String.format("%020d.snapshot", offset));
    }

    void empty() {
        File[] left = folder == null ? null : folder.toFile().listFiles();
        if (left != null) {
            for (File file : left) {
                file.delete();
            }
        }
    }

    private void remove() {
        empty();
        folder.toFile().delete();
    }
}
