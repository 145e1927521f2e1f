package kafkaoracle.broker_producer_state;

import java.io.File;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import kafkaoracle.reflection.Arguments;
import kafkaoracle.reflection.Members;
import org.apache.kafka.common.TopicPartition;

/** ProducerStateManager of one release: in Scala up to 3.4 ({@code kafka.log}), in Java since 3.5. */
final class BrokerProducerStateAccess {
    static final TopicPartition PARTITION = new TopicPartition("t", 0);
    private static final int LONGEST_TRANSACTION_MS = 900_000;

    /** The clock. */
    long now;

    private final Constructor<?> constructor;
    private final Object time;
    private final BatchAppend append;
    private final Method readSnapshot;

    private Object manager;

    BrokerProducerStateAccess() throws ReflectiveOperationException {
        Class<?> managerClass = Members.type(
            "org.apache.kafka.storage.internals.log.ProducerStateManager", "kafka.log.ProducerStateManager");
        constructor = Members.constructor(managerClass);
        append = new BatchAppend(managerClass);
        readSnapshot = Members.method(managerClass, "readSnapshot");
        time = Members.proxy(Members.type("org.apache.kafka.common.utils.Time"), (proxy, method, arguments) -> now);
    }

    /** Makes a manager of what is in this folder, which need not exist. */
    void open(File folder, int expirationMs) throws Exception {
        List<String> types = Arrays.stream(constructor.getParameterTypes()).map(Class::getSimpleName).toList();
        boolean takesTransactionTime = types.indexOf("int") != types.lastIndexOf("int") || types.contains("ProducerStateManagerConfig");
        Object[] numbers = {takesTransactionTime ? LONGEST_TRANSACTION_MS : expirationMs, expirationMs};
        manager = constructor.newInstance(new Arguments()
            .giveAll(TopicPartition.class, PARTITION).giveAll(File.class, folder).give(int.class, numbers)
            .match(constructor.getParameterTypes(), type -> type.getSimpleName().equals("ProducerStateManagerConfig")
                ? config(Members.constructor(type), expirationMs) : time));
    }

    private static Object config(Constructor<?> config, int expirationMs) throws ReflectiveOperationException {
        return config.getParameterCount() == 1 ? config.newInstance(expirationMs) : config.newInstance(expirationMs, true);
    }

    boolean has(String name) {
        return Members.has(manager, name);
    }

    Object call(String name, Object... arguments) throws ReflectiveOperationException {
        return Members.call(manager, name, arguments);
    }

    long end() throws ReflectiveOperationException {
        return (Long) Members.read(manager, "mapEndOffset");
    }

    /** The base offset of the batch that the broker holds this one to be a duplicate of, or null. */
    Object duplicateOf(Object batch) throws ReflectiveOperationException {
        Object entry = Containers.value(call("lastEntry", Members.read(batch, "producerId")));
        if (entry == null) {
            return null;
        }
        if (Members.has(entry, "isDuplicate")) {
            return (Boolean) Members.call(entry, "isDuplicate", batch) ? Members.read(entry, "firstOffset") : null;
        }
        String find = Members.has(entry, "findDuplicateBatch") ? "findDuplicateBatch" : "duplicateOf"; // up to 1.0.1
        Object found = Containers.value(Members.call(entry, find, batch));
        return found == null ? null : Members.read(found, "firstOffset");
    }

    /** Returns the transaction that this batch completes, or null. */
    Object update(Object batch, Map<Long, Object> infos, String origin, short transactionVersion)
        throws ReflectiveOperationException {
        return append.append(manager, batch, infos, origin, transactionVersion);
    }

    /** Completes a transaction in the manager: [producer, first offset, last offset, aborted, last stable offset]. */
    List<Object> complete(Object transaction) throws ReflectiveOperationException {
        List<Object> described = new ArrayList<>();
        for (String name : new String[] {"producerId", "firstOffset", "lastOffset", "isAborted"}) {
            described.add(Members.read(transaction, name));
        }
        if (has("lastStableOffset")) {
            described.add(call("lastStableOffset", transaction));
            call("completeTxn", transaction);
        } else {
            described.add(call("completeTxn", transaction));
        }
        return described;
    }

    void takeSnapshot() throws ReflectiveOperationException {
        if (Members.method(manager.getClass(), "takeSnapshot").getParameterCount() == 1) {
            call("takeSnapshot", false);
        } else {
            call("takeSnapshot");
        }
    }

    void verify(long producerId, int sequence, short epoch, boolean supportsEpochBump) throws ReflectiveOperationException {
        Object[] arguments = {producerId, sequence, epoch, supportsEpochBump};
        Method create = Members.method(manager.getClass(), "maybeCreateVerificationStateEntry");
        create.invoke(manager, Arrays.copyOf(arguments, create.getParameterCount()));
    }

    /** [producer, lowest sequence, epoch], since 4.0 also whether the client bumps its epoch itself; null if there is none. */
    List<Object> verification(long producerId) throws ReflectiveOperationException {
        Object entry = has("verificationStateEntry") ? call("verificationStateEntry", producerId) : null;
        if (entry == null) {
            return null;
        }
        List<Object> described = new ArrayList<>();
        described.add(producerId);
        described.add(Members.read(entry, "lowestSequence"));
        described.add(Members.read(entry, "epoch"));
        if (Members.has(entry, "supportsEpochBump")) {
            described.add(Members.read(entry, "supportsEpochBump"));
        }
        return described;
    }

    List<Map<String, Object>> producers() throws ReflectiveOperationException {
        return ProducerEntries.describe(call("activeProducers"));
    }

    /** The entries that readSnapshot reads from a file, in the file's order. */
    List<Map<String, Object>> read(File file) throws ReflectiveOperationException {
        boolean isStatic = Modifier.isStatic(readSnapshot.getModifiers());
        return ProducerEntries.describe(readSnapshot.invoke(isStatic ? null : manager, file));
    }

    Object firstUnstable() throws ReflectiveOperationException {
        Object offset = Containers.value(call("firstUnstableOffset"));
        return offset == null ? null : Members.read(offset, "messageOffset");
    }
}
