package kafkaoracle.log_segment;

import java.io.File;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import kafkaoracle.reflection.Members;

/** The folder for the files of one segment at a time: emptied after every question, removed with the JVM. */
final class SegmentFiles {
    private static final int SIZE_AT = 8;
    private static final int OVERHEAD = 12;
    private static final int CHECKSUM_AT = 17;

    private Path folder;
    private long baseOffset;

    void begin(long base) throws IOException {
        if (folder == null) {
            String scratch = System.getProperty("kafka.conformance.scratch");
            folder = scratch == null ? Files.createTempDirectory("segments-") : Files.createTempDirectory(Path.of(scratch), "segments-");
            Runtime.getRuntime().addShutdownHook(new Thread(this::remove));
        }
        baseOffset = base;
    }

    File file(String kind) {
        return folder.resolve(String.format("%020d", baseOffset) + kind).toFile();
    }

    String content(String kind) throws IOException {
        return HexFormat.of().formatHex(Files.readAllBytes(file(kind).toPath()));
    }

    /** Removes bytes from the end of the segment's file. */
    void cut(long bytes) throws IOException {
        try (RandomAccessFile log = new RandomAccessFile(file(".log"), "rw")) {
            log.setLength(Math.max(log.length() - bytes, 0));
        }
    }

    /** Changes a byte of the checksum of a batch, if there is one with this number. */
    void damage(long number) throws IOException {
        try (RandomAccessFile log = new RandomAccessFile(file(".log"), "rw")) {
            long position = 0;
            for (long left = number; left > 0 && position < log.length(); left--) {
                log.seek(position + SIZE_AT);
                position += log.readInt() + OVERHEAD;
            }
            if (position < log.length()) {
                log.seek(position + CHECKSUM_AT);
                int old = log.read();
                log.seek(position + CHECKSUM_AT);
                log.write(old ^ 1);
            }
        }
    }

    /** Unmaps an index without trimming its file. */
    static void unmap(Object index) throws ReflectiveOperationException {
        ByteBuffer mapped = (ByteBuffer) Members.get(index, "mmap");
        if (mapped == null) {
            return;
        }
        Members.set(index, "mmap", null);
        Method clean = Class.forName("sun.misc.Unsafe").getMethod("invokeCleaner", ByteBuffer.class);
        clean.invoke(unsafe(), mapped);
    }

    /** An object whose constructor does not run. */
    static Object bare(Class<?> type) throws ReflectiveOperationException {
        return Class.forName("sun.misc.Unsafe").getMethod("allocateInstance", Class.class).invoke(unsafe(), type);
    }

    private static Object unsafe() throws ReflectiveOperationException {
        Field field = Class.forName("sun.misc.Unsafe").getDeclaredField("theUnsafe");
        field.setAccessible(true);
        return field.get(null);
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
