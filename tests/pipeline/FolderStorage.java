import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.server.log.remote.storage.LogSegmentData;
import org.apache.kafka.server.log.remote.storage.RemoteLogSegmentMetadata;
import org.apache.kafka.server.log.remote.storage.RemoteLogSegmentMetadata.CustomMetadata;
import org.apache.kafka.server.log.remote.storage.RemoteResourceNotFoundException;
import org.apache.kafka.server.log.remote.storage.RemoteStorageException;
import org.apache.kafka.server.log.remote.storage.RemoteStorageManager;

/** Remote storage in a folder, {@code dir}: one file for each file of a segment. Kafka ships an interface only. */
public class FolderStorage implements RemoteStorageManager {
    private Path folder;

    @Override
    public void configure(Map<String, ?> settings) {
        folder = Path.of((String) settings.get("dir"));
    }

    @Override
    public Optional<CustomMetadata> copyLogSegmentData(RemoteLogSegmentMetadata segment, LogSegmentData data)
            throws RemoteStorageException {
        try {
            Files.createDirectories(folder);
            Files.copy(data.logSegment(), file(segment, "LOG"));
            Files.copy(data.offsetIndex(), file(segment, IndexType.OFFSET.name()));
            Files.copy(data.timeIndex(), file(segment, IndexType.TIMESTAMP.name()));
            Files.copy(data.producerSnapshotIndex(), file(segment, IndexType.PRODUCER_SNAPSHOT.name()));
            if (data.transactionIndex().isPresent()) {
                Files.copy(data.transactionIndex().get(), file(segment, IndexType.TRANSACTION.name()));
            }
            ByteBuffer epochs = data.leaderEpochIndex().duplicate();
            byte[] written = new byte[epochs.remaining()];
            epochs.get(written);
            Files.write(file(segment, IndexType.LEADER_EPOCH.name()), written);
            return Optional.empty();
        } catch (IOException error) {
            throw new RemoteStorageException(error);
        }
    }

    @Override
    public InputStream fetchLogSegment(RemoteLogSegmentMetadata segment, int start) throws RemoteStorageException {
        return fetchLogSegment(segment, start, Integer.MAX_VALUE - 1);
    }

    @Override
    public InputStream fetchLogSegment(RemoteLogSegmentMetadata segment, int start, int end)
            throws RemoteStorageException {
        byte[] whole = read(segment, "LOG");
        return new ByteArrayInputStream(whole, start, Math.min(end + 1, whole.length) - start);
    }

    @Override
    public InputStream fetchIndex(RemoteLogSegmentMetadata segment, IndexType type) throws RemoteStorageException {
        return new ByteArrayInputStream(read(segment, type.name()));
    }

    @Override
    public void deleteLogSegmentData(RemoteLogSegmentMetadata segment) throws RemoteStorageException {
        try {
            Files.deleteIfExists(file(segment, "LOG"));
            for (IndexType type : IndexType.values()) {
                Files.deleteIfExists(file(segment, type.name()));
            }
        } catch (IOException error) {
            throw new RemoteStorageException(error);
        }
    }

    @Override
    public void close() {
    }

    private byte[] read(RemoteLogSegmentMetadata segment, String suffix) throws RemoteStorageException {
        Path file = file(segment, suffix);
        if (!Files.exists(file)) {
            throw new RemoteResourceNotFoundException(file + " is not there");
        }
        try {
            return Files.readAllBytes(file);
        } catch (IOException error) {
            throw new RemoteStorageException(error);
        }
    }

    private Path file(RemoteLogSegmentMetadata segment, String suffix) {
        return folder.resolve(segment.remoteLogSegmentId().id() + "." + suffix);
    }
}
