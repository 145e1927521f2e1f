package kafkaoracle.broker_producer_state;

import java.io.File;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import kafkaoracle.reflection.Members;
import org.apache.kafka.common.TopicPartition;

/**
 * ProducerStateManager of one release, whatever it is written in and whatever its methods take.
 *
 * Scala to 3.4 ({@code kafka.log}), Java from 3.5 on. Origins: to 2.3 the manager is told whether a client writes, and goes
 * by its topic whether that is the coordinator; so for the coordinator the ProducerAppendInfo is made here as the manager
 * of __consumer_offsets makes it. From 4.0 on {@code UnifiedLog.updateProducers} can be called, and is; before, its two
 * lines are here: append to the info, and forget the verification of a transactional batch (3.6 on).
 */
final class BrokerProducerStateAccess {
    private static final TopicPartition PARTITION = new TopicPartition("t", 0);
    private static final int LONGEST_TRANSACTION_MS = 900_000;

    /** The clock. */
    long now;

    private final Members opened = new Members();
    private final Constructor<?> making;
    private final Object time;
    private final Class<?> infoClass;
    private final Method append;
    private final MethodHandle updateProducers;
    private final Method readSnapshot;
    private final Map<String, Object> origins = new HashMap<>();
    private final Object noOption;

    private Object manager;

    BrokerProducerStateAccess() throws ReflectiveOperationException {
        Class<?> managerClass = Members.first("org.apache.kafka.storage.internals.log.ProducerStateManager", "kafka.log.ProducerStateManager");
        making = Members.constructor(managerClass);
        String home = managerClass.getPackageName();
        infoClass = Members.first(home + ".ProducerAppendInfo");
        append = appendOfBatch();
        updateProducers = updateProducers(managerClass);
        readSnapshot = Members.method(managerClass, "readSnapshot");
        Class<?> clock = Members.first("org.apache.kafka.common.utils.Time");
        time = Proxy.newProxyInstance(clock.getClassLoader(), new Class<?>[] {clock}, (proxy, method, given) -> now);
        noOption = home.equals("kafka.log")
            ? Members.first("scala.None$").getField("MODULE$").get(null) : Optional.empty();
        findOrigins(home);
    }

    private void findOrigins(String home) throws ReflectiveOperationException {
        for (String origin : new String[] {"client", "coordinator", "replication"}) {
            origins.put(origin, origin(home, origin));
        }
    }

    /** An AppendOrigin (2.4 on), a ValidationType (1.0 to 2.3), or only whether it is a client (0.11). */
    private static Object origin(String home, String name) throws ReflectiveOperationException {
        if (!home.equals("kafka.log")) {
            return Members.first(home + ".AppendOrigin").getField(name.toUpperCase()).get(null);
        }
        String scala = Character.toUpperCase(name.charAt(0)) + name.substring(1);
        String validation = Map.of("client", "Full", "coordinator", "EpochOnly", "replication", "None").get(name);
        try {
            return Members.first("kafka.log.AppendOrigin$" + scala + "$", "kafka.log.ValidationType$" + validation + "$").getField("MODULE$").get(null);
        } catch (ClassNotFoundException in011) {
            return null;
        }
    }

    private Method appendOfBatch() throws NoSuchMethodException {
        Method found = null;
        for (Method method : infoClass.getDeclaredMethods()) {
            boolean ofBatch = method.getName().equals("append") && method.getParameterTypes()[0].getSimpleName().equals("RecordBatch");
            if (ofBatch && (found == null || method.getParameterCount() > found.getParameterCount())) {
                found = method;
            }
        }
        if (found == null) {
            throw new NoSuchMethodException("ProducerAppendInfo.append of a batch");
        }
        return found;
    }

    /** Found by its exact type: to list all methods of UnifiedLog would take the jars of half a broker. */
    private MethodHandle updateProducers(Class<?> managerClass) throws ReflectiveOperationException {
        Class<?> log;
        try {
            log = Members.first("org.apache.kafka.storage.internals.log.UnifiedLog");
        } catch (ClassNotFoundException before40) {
            return null;
        }
        Class<?> origin = Members.first(managerClass.getPackageName() + ".AppendOrigin");
        MethodType type = MethodType.methodType(Optional.class, managerClass, append.getParameterTypes()[0], Map.class, Optional.class, origin);
        boolean versioned = append.getParameterCount() == 3;
        MethodHandle found = MethodHandles.publicLookup().findStatic(log, "updateProducers", versioned ? type.appendParameterTypes(short.class) : type);
        MethodHandle six = versioned ? found : MethodHandles.dropArguments(found, 5, short.class);
        return six.asType(MethodType.genericMethodType(6));
    }

    /** A manager of what is in this folder, which need not be there. */
    void open(File folder, int expirationMs) throws ReflectiveOperationException {
        Class<?>[] kinds = making.getParameterTypes();
        Object[] given = new Object[kinds.length];
        boolean expirationSeen = false;
        for (int i = kinds.length - 1; i >= 0; i--) {
            if (kinds[i] == TopicPartition.class) {
                given[i] = PARTITION;
            } else if (kinds[i] == File.class) {
                given[i] = folder;
            } else if (kinds[i] == int.class) {
                given[i] = expirationSeen ? LONGEST_TRANSACTION_MS : expirationMs;
                expirationSeen = true;
            } else if (kinds[i].getSimpleName().equals("ProducerStateManagerConfig")) {
                Constructor<?> config = Members.constructor(kinds[i]);
                given[i] = config.getParameterCount() == 1 ? config.newInstance(expirationMs) : config.newInstance(expirationMs, true);
                expirationSeen = true;
            } else {
                given[i] = time;
            }
        }
        manager = making.newInstance(given);
    }

    boolean has(String name) {
        return opened.has(manager, name);
    }

    /** How many arguments the method of this name takes. */
    int takes(String name) {
        return opened.known(manager, name).orElseThrow().getParameterCount();
    }

    Object call(String name, Object... given) throws ReflectiveOperationException {
        return opened.call(manager, name, given);
    }

    long end() throws ReflectiveOperationException {
        return opened.number(manager, "mapEndOffset");
    }

    /** The base offset under which the broker remembers this batch, or null. */
    Long duplicateOf(Object batch) throws ReflectiveOperationException {
        Object entry = opened.inside(call("lastEntry", opened.read(batch, "producerId")));
        if (entry == null) {
            return null;
        }
        if (opened.has(entry, "isDuplicate")) {
            return (Boolean) opened.call(entry, "isDuplicate", batch) ? opened.number(entry, "firstOffset") : null;
        }
        Object found = opened.inside(opened.call(entry, "findDuplicateBatch", batch));
        return found == null ? null : opened.number(found, "firstOffset");
    }

    /** What UnifiedLog.updateProducers does; the transaction that this batch completes, or null. */
    Object update(Object batch, Map<Long, Object> infos, String origin, short transactionVersion) throws ReflectiveOperationException {
        if (updateProducers != null) {
            try {
                return opened.inside((Object) updateProducers.invokeExact((Object) manager, batch, (Object) infos, noOption, origins.get(origin), (Object) transactionVersion));
            } catch (ReflectiveOperationException fault) {
                throw fault;
            } catch (Throwable thrown) {
                throw new InvocationTargetException(thrown);
            }
        }
        long producerId = opened.number(batch, "producerId");
        Object info = infos.get(producerId);
        if (info == null) {
            info = prepared(producerId, origin);
            infos.put(producerId, info);
        }
        Object[] given = {batch, noOption};
        Object completed = opened.inside(append.invoke(info, Arrays.copyOf(given, append.getParameterCount())));
        if ((Boolean) opened.read(batch, "isTransactional") && has("clearVerificationStateEntry")) {
            call("clearVerificationStateEntry", producerId);
        }
        return completed;
    }

    private Object prepared(long producerId, String origin) throws ReflectiveOperationException {
        Method prepare = opened.known(manager, "prepareUpdate").orElseThrow();
        if (prepare.getParameterTypes()[1] != boolean.class) {
            return prepare.invoke(manager, producerId, origins.get(origin));
        }
        return origin.equals("coordinator") ? ofCoordinator(producerId) : prepare.invoke(manager, producerId, origin.equals("client"));
    }

    private Object ofCoordinator(long producerId) throws ReflectiveOperationException {
        Constructor<?> info = Members.constructor(infoClass);
        Object entry = opened.inside(call("lastEntry", producerId));
        Object coordinator = origins.get("coordinator");
        if (coordinator == null) {
            Object none = Members.first("kafka.log.ProducerIdEntry$").getField("MODULE$").get(null);
            return info.newInstance(producerId, entry == null ? opened.read(none, "Empty") : entry, false, true);
        }
        Object none = Members.first("kafka.log.ProducerStateEntry$").getField("MODULE$").get(null);
        Object current = entry == null ? opened.call(none, "empty", producerId) : entry;
        return info.getParameterCount() == 3
            ? info.newInstance(producerId, current, coordinator) : info.newInstance(PARTITION, producerId, current, coordinator);
    }

    /** [producer, first offset, last offset, aborted, last stable offset], and the manager knows it from then on. */
    List<Object> complete(Object transaction) throws ReflectiveOperationException {
        List<Object> told = new ArrayList<>();
        for (String name : new String[] {"producerId", "firstOffset", "lastOffset", "isAborted"}) {
            told.add(opened.read(transaction, name));
        }
        if (has("lastStableOffset")) {
            told.add(call("lastStableOffset", transaction));
            call("completeTxn", transaction);
        } else {
            told.add(call("completeTxn", transaction));
        }
        return told;
    }

    void verify(long producerId, int sequence, short epoch, boolean supportsEpochBump) throws ReflectiveOperationException {
        Object[] given = {producerId, sequence, epoch, supportsEpochBump};
        Method create = opened.known(manager, "maybeCreateVerificationStateEntry").orElseThrow();
        create.invoke(manager, Arrays.copyOf(given, create.getParameterCount()));
    }

    /** [lowest sequence, epoch], and from 4.0 on whether the client bumps its epoch itself; null if there is nothing. */
    List<Object> verification(long producerId) throws ReflectiveOperationException {
        Object entry = has("verificationStateEntry") ? call("verificationStateEntry", producerId) : null;
        if (entry == null) {
            return null;
        }
        List<Object> told = new ArrayList<>(List.of(producerId, opened.read(entry, "lowestSequence"), opened.read(entry, "epoch")));
        if (opened.has(entry, "supportsEpochBump")) {
            told.add(opened.read(entry, "supportsEpochBump"));
        }
        return told;
    }

    List<Map<String, Object>> producers() throws ReflectiveOperationException {
        return entries(opened.all(call("activeProducers")));
    }

    /** What readSnapshot makes of a file, in the file's order. */
    List<Map<String, Object>> read(File file) throws ReflectiveOperationException {
        boolean isStatic = Modifier.isStatic(readSnapshot.getModifiers());
        return entries(opened.all(readSnapshot.invoke(isStatic ? null : manager, file)));
    }

    private List<Map<String, Object>> entries(List<Object> found) throws ReflectiveOperationException {
        List<Map<String, Object>> told = new ArrayList<>(found.size());
        for (Object entry : found) {
            told.add(entry(entry));
        }
        return told;
    }

    private Map<String, Object> entry(Object entry) throws ReflectiveOperationException {
        boolean in011 = entry.getClass().getSimpleName().equals("ProducerIdEntry");
        Map<String, Object> told = new LinkedHashMap<>();
        told.put("id", opened.read(entry, "producerId"));
        told.put("epoch", opened.read(entry, "producerEpoch"));
        told.put("last_sequence", opened.read(entry, "lastSeq"));
        told.put("last_offset", opened.read(entry, in011 ? "lastOffset" : "lastDataOffset"));
        told.put("timestamp", opened.read(entry, in011 ? "timestamp" : "lastTimestamp"));
        told.put("coordinator_epoch", opened.read(entry, "coordinatorEpoch"));
        told.put("transaction", opened.inside(opened.read(entry, "currentTxnFirstOffset")));
        List<Object> batches = new ArrayList<>();
        for (Object batch : in011 ? List.of(entry) : opened.all(opened.read(entry, "batchMetadata"))) {
            List<Object> numbers = new ArrayList<>();
            for (String name : new String[] {"firstSeq", "lastSeq", "firstOffset", "lastOffset", "timestamp"}) {
                numbers.add(opened.read(batch, name));
            }
            batches.add(numbers);
        }
        told.put("batches", batches);
        return told;
    }

    Object firstUnstable() throws ReflectiveOperationException {
        Object offset = opened.inside(call("firstUnstableOffset"));
        return offset == null ? null : opened.read(offset, "messageOffset");
    }

    Object inside(Object option) throws ReflectiveOperationException {
        return opened.inside(option);
    }
}
