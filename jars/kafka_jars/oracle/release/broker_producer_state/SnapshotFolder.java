package kafkaoracle.broker_producer_state;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A folder for the files of one script at a time: made at first use, emptied after every script, removed with the JVM.
 * It lies in the folder that the kit removes at its end, so it is removed even if the JVM is killed.
 */
final class SnapshotFolder {
    private Path folder;

    File absent() {
        return new File("/nonexistent/kafka-conformance");
    }

    File create() throws IOException {
        if (folder == null) {
            String scratch = System.getProperty("kafka.conformance.scratch");
            folder = scratch == null ? Files.createTempDirectory("snapshots-") : Files.createTempDirectory(Path.of(scratch), "snapshots-");
            Runtime.getRuntime().addShutdownHook(new Thread(this::remove));
        }
        return folder.toFile();
    }

    File file(long offset) throws IOException {
        return new File(create(), String.format("%020d.snapshot", offset));
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
