package kafkaoracle.log_index;

import java.io.File;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import kafkaoracle.reflection.Members;
import kafkaoracle.rule.Rule;

/** An index of a log segment, step by step, on its own file. Calls go by name: the classes moved from Scala to Java. */
public abstract class IndexRule extends Rule {
    private final IndexFolder folder = new IndexFolder();
    private final String simpleName;
    private final String kind;
    private Constructor<?> constructor;
    private Object index;
    private File file;
    private long baseOffset;
    private boolean writable;

    protected IndexRule(String simpleName, String kind) {
        this.simpleName = simpleName;
        this.kind = kind;
    }

    /** Appends the entry of the short form of a question. */
    protected abstract void append(List<?> entry) throws Exception;

    /** A step that only this index has; null for others. */
    protected abstract Map<String, Object> ownStep(String op, Map<String, Object> step) throws Exception;

    protected abstract List<Object> entry(Object found) throws ReflectiveOperationException;

    protected abstract Object last() throws ReflectiveOperationException;

    @Override
    @SuppressWarnings("unchecked")
    protected final Map<String, Object> answer(Map<String, Object> question) throws Exception {
        List<Map<String, Object>> steps = (List<Map<String, Object>>) question.getOrDefault("steps", List.of());
        List<Object> lookups = (List<Object>) question.getOrDefault("lookups", List.of());
        Map<String, Object> answer = new LinkedHashMap<>();
        try {
            Map<String, Object> thrown = begin(question);
            if (!steps.isEmpty()) {
                List<Object> answers = new ArrayList<>();
                for (Map<String, Object> step : steps) {
                    answers.add(thrown == null ? answerStep(step) : thrown);
                }
                answer.put("steps", answers);
            } else if (thrown != null) {
                return thrown;
            } else {
                List<Object> found = new ArrayList<>();
                for (Object target : lookups) {
                    found.add(entry(call("lookup", ((Number) target).longValue())));
                }
                answer.put("found", found);
            }
            return answer;
        } catch (InvocationTargetException wrapped) {
            return thrown(wrapped.getCause());
        } finally {
            unmap();
            index = null;
            folder.empty();
        }
    }

    /** Opens the index and appends the entries; what Kafka throws there, or null. */
    private Map<String, Object> begin(Map<String, Object> question) throws Exception {
        if (constructor == null) { // the broker's jars are loaded only once this rule has a question
            constructor = Members.constructor(
                Members.type("org.apache.kafka.storage.internals.log." + simpleName, "kafka.log." + simpleName));
        }
        baseOffset = number(question, "base_offset", 0);
        writable = (Boolean) question.getOrDefault("writable", true);
        file = folder.file(baseOffset, kind, "");
        if (question.get("file") != null) {
            Files.write(file.toPath(), IndexFolder.content(question.get("file"), kind.startsWith(".time")));
        }
        try {
            open((int) number(question, "max_index_size", 1024));
            for (Object entry : (List<?>) question.getOrDefault("entries", List.of())) {
                append((List<?>) entry);
            }
            return null;
        } catch (InvocationTargetException wrapped) {
            return thrown(wrapped.getCause());
        }
    }

    private void open(int maxIndexSize) throws ReflectiveOperationException {
        index = constructor.newInstance(file, baseOffset, maxIndexSize, writable);
    }

    private Map<String, Object> answerStep(Map<String, Object> step) throws Exception {
        try {
            String op = (String) step.get("op");
            Map<String, Object> own = ownStep(op, step);
            return own == null ? step(op, step) : own;
        } catch (InvocationTargetException wrapped) {
            return thrown(wrapped.getCause());
        }
    }

    protected final Object call(String name, Object... arguments) throws ReflectiveOperationException {
        return Members.call(index, name, arguments);
    }

    private boolean has(String name) {
        return Members.has(index, name);
    }

    private Map<String, Object> step(String op, Map<String, Object> step) throws Exception {
        switch (op) {
            case "lookup":
                return Map.of("found", entry(call("lookup", number(step, "target", 0))));
            case "entry":
                return Map.of("entry", entry(call("entry", (int) number(step, "number", 0))));
            case "entries":
                return Map.of("entries", entries());
            case "name":
                return name(number(step, "offset", 0));
            case "resize":
                Object resized = call("resize", (int) number(step, "size", 0));
                return resized instanceof Boolean ? Map.of("resized", resized) : Map.of();
            case "delete":
                return Map.of("deleted", call(has("delete") ? "delete" : "deleteIfExists"));
            case "can_append":
                return has("canAppendOffset") ? Map.of("fits", call("canAppendOffset", number(step, "offset", 0))) : Map.of();
            case "relative":
                return has("canAppendOffset") ? Map.of("relative", call("relativeOffset", number(step, "offset", 0))) : Map.of();
            case "bytes":
                Map<String, Object> bytes = new LinkedHashMap<>();
                bytes.put("bytes", file.exists() ? HexFormat.of().formatHex(Files.readAllBytes(file.toPath())) : null);
                return bytes;
            case "look":
                return look();
            default:
                change(op, step);
                return Map.of();
        }
    }

    private void change(String op, Map<String, Object> step) throws Exception {
        switch (op) {
            case "truncate_to":
                call("truncateTo", number(step, "offset", 0));
                return;
            case "truncate":
            case "flush":
            case "close":
                call(op);
                return;
            case "trim":
                call("trimToValidSize");
                return;
            case "sanity_check":
                call("sanityCheck");
                return;
            case "reset":
            case "close_handler":
                String name = op.equals("reset") ? op : "closeHandler";
                if (has(name)) {
                    call(name);
                }
                return;
            case "rename":
                File renamed = folder.file(baseOffset, kind, (String) step.get("suffix"));
                file = renamed;
                call("renameTo", renamed);
                return;
            case "reopen":
                unmap();
                open((int) number(step, "max_index_size", 1024));
                return;
            default:
                throw new IllegalArgumentException("a script of " + simpleName + " has no step " + op);
        }
    }

    private List<Object> entries() throws ReflectiveOperationException {
        List<Object> found = new ArrayList<>();
        int count = (Integer) call("entries");
        for (int number = 0; number < count; number++) {
            found.add(entry(call("entry", number)));
        }
        return found;
    }

    /** The name of files by Kafka's own function, and what its own function reads from the name of a deleted one. */
    private Map<String, Object> name(long offset) throws ReflectiveOperationException {
        Class<?> type = Members.type(
            "org.apache.kafka.storage.internals.log.LogFileUtils", "kafka.log.LocalLog$", "kafka.log.Log$");
        Object module = type.getName().endsWith("$") ? Members.getStatic(type, "MODULE$") : null;
        String name = (String) Members.method(type, "filenamePrefixFromOffset", 1).invoke(module, offset);
        File deleted = new File(name + kind + ".deleted");
        Method read = Members.method(type, "offsetFromFile", 1);
        Object found = read != null ? read.invoke(module, deleted)
            : Members.method(type, "offsetFromFilename", 1).invoke(module, deleted.getName());
        return Map.of("name", name, "offset", found);
    }

    private Map<String, Object> look() throws ReflectiveOperationException {
        Map<String, Object> answer = new LinkedHashMap<>();
        answer.put("entries", call("entries"));
        answer.put("max_entries", call("maxEntries"));
        answer.put("size", call("sizeInBytes"));
        answer.put("full", call("isFull"));
        answer.put("last", last());
        if (has("length")) {
            answer.put("length", call("length"));
        }
        return answer;
    }

    /** Unmaps the file without trimming it, as closeHandler of 1.0.0 to 4.3.x does. */
    private void unmap() throws ReflectiveOperationException {
        ByteBuffer mapped = index == null ? null : (ByteBuffer) Members.get(index, "mmap");
        if (mapped == null) {
            return;
        }
        Members.set(index, "mmap", null);
        Class<?> unsafe = Class.forName("sun.misc.Unsafe");
        Field field = unsafe.getDeclaredField("theUnsafe");
        field.setAccessible(true);
        Method clean = unsafe.getMethod("invokeCleaner", ByteBuffer.class);
        clean.invoke(field.get(null), mapped);
    }

    /** Java's simple class name, and the message if Kafka wrote it, with the file's name in place of its path. */
    private Map<String, Object> thrown(Throwable thrown) {
        String name = thrown.getClass().getSimpleName();
        if (thrown.getMessage() == null || thrown instanceof NullPointerException || !isWrittenByKafka(thrown)) {
            return Map.of("raises", name);
        }
        return Map.of("raises", name, "message", folder.withoutPaths(thrown.getMessage()));
    }

    /** Kafka's own exceptions may have no stack; Scala's require throws in Kafka's name. */
    private static boolean isWrittenByKafka(Throwable thrown) {
        StackTraceElement[] stack = thrown.getStackTrace();
        String from = stack.length == 0 ? thrown.getClass().getName() : stack[0].getClassName();
        return from.startsWith("org.apache.kafka.") || from.startsWith("kafka.") || from.startsWith("scala.Predef");
    }
}
