package kafkaoracle.partition;

import java.io.File;
import java.io.IOException;
import java.lang.reflect.Constructor;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import kafkaoracle.reflection.Arguments;
import kafkaoracle.reflection.Members;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.utils.Time;

/** Kafka's LogManager over a folder, one for all questions: it is never started, so it has no cleaner and no threads. */
final class LogFolder {
    /** Where there are no disks: Kafka syncs files with every new leader epoch. */
    private static final Path MEMORY = Path.of("/dev/shm");

    final Object manager;
    private final Path folder;

    LogFolder(Class<?> type, Time time) throws Exception {
        folder = Files.createTempDirectory(Files.isWritable(MEMORY) ? MEMORY : Path.of(System.getProperty("java.io.tmpdir")), "partitions-");
        Runtime.getRuntime().addShutdownHook(new Thread(this::remove));
        Constructor<?> constructor = Members.constructor(type);
        Class<?> config = Members.type("org.apache.kafka.storage.internals.log.LogConfig", "kafka.log.LogConfig");
        List<File> one = List.of(folder.toFile());
        manager = constructor.newInstance(new Arguments()
            .give(Class.forName("scala.collection.Seq"), Scala.seq(one), Scala.seq(List.of()))
            .give(List.class, one, List.of())
            .give(config, config(1)).give(Time.class, time)
            .match(constructor.getParameterTypes(), Defaults::make));
    }

    /** The configuration of a log with this min.insync.replicas. */
    static Object config(int minInSync) throws Exception {
        Map<String, Object> settings = new HashMap<>();
        settings.put("min.insync.replicas", minInSync);
        settings.put("segment.index.bytes", 1024);
        settings.put("message.timestamp.type", "CreateTime");
        Constructor<?> constructor = Members.constructor(
            Members.type("org.apache.kafka.storage.internals.log.LogConfig", "kafka.log.LogConfig"));
        return constructor.newInstance(new Arguments().give(Map.class, settings).match(constructor.getParameterTypes(), Defaults::make));
    }

    /** Closes a log, if there is one, and removes its files. */
    void drop(TopicPartition topicPartition) throws ReflectiveOperationException, IOException {
        Object logs = Members.get(manager, "currentLogs");
        Object log = Members.method(logs.getClass(), "remove", 1).invoke(logs, topicPartition);
        if (log == null) {
            return;
        }
        Members.call(log, "removeLogMetrics");
        File directory = (File) Members.call(log, "dir");
        Members.call(log, "delete");
        if (directory.exists()) {
            removeAll(directory.toPath());
        }
    }

    private static void removeAll(Path path) throws IOException {
        try (Stream<Path> files = Files.walk(path)) {
            files.sorted(Comparator.reverseOrder()).forEach(file -> file.toFile().delete());
        }
    }

    private void remove() {
        try {
            removeAll(folder);
        } catch (IOException left) {
            folder.toFile().deleteOnExit();
        }
    }
}
