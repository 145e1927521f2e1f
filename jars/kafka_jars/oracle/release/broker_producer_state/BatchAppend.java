package kafkaoracle.broker_producer_state;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import kafkaoracle.reflection.Members;

/**
 * UnifiedLog.updateProducers: the append of one batch to the ProducerAppendInfo of its producer.
 *
 * Since 4.0 Kafka's method is called. Before, it is not reachable, and its lines are here: make the info, append to it, and
 * forget the verification of a transactional batch (since 3.6). Up to 2.3 a log passes whether a client writes, and the
 * manager goes by its topic whether that is the coordinator; so for the coordinator the info is made here as the manager of
 * __consumer_offsets makes it.
 */
final class BatchAppend {
    private final Class<?> infoClass;
    private final Method append;
    private final MethodHandle updateProducers;
    private final Map<String, Object> origins = new HashMap<>();
    private final Object noOption;

    BatchAppend(Class<?> managerClass) throws ReflectiveOperationException {
        String home = managerClass.getPackageName();
        infoClass = Members.type(home + ".ProducerAppendInfo");
        append = Arrays.stream(infoClass.getDeclaredMethods())
            .filter(each -> each.getName().equals("append") && each.getParameterTypes()[0].getSimpleName().equals("RecordBatch"))
            .max((one, other) -> one.getParameterCount() - other.getParameterCount()).orElseThrow();
        updateProducers = updateProducers(managerClass);
        noOption = home.equals("kafka.log") ? Members.type("scala.None$").getField("MODULE$").get(null) : Optional.empty();
        for (String origin : new String[] {"client", "coordinator", "replication"}) {
            origins.put(origin, origin(home, origin));
        }
    }

    /** An AppendOrigin (since 2.4), a ValidationType (1.0 to 2.3), or null (0.11, which has only a flag for clients). */
    private static Object origin(String home, String name) throws ReflectiveOperationException {
        if (!home.equals("kafka.log")) {
            return Members.type(home + ".AppendOrigin").getField(name.toUpperCase()).get(null);
        }
        String scala = Character.toUpperCase(name.charAt(0)) + name.substring(1);
        String validation = Map.of("client", "Full", "coordinator", "EpochOnly", "replication", "None").get(name);
        Class<?> found = Members.typeOrNull(
            "kafka.log.AppendOrigin$" + scala + "$", "kafka.log.ValidationType$" + validation + "$");
        return found == null ? null : found.getField("MODULE$").get(null);
    }

    /** Found by its exact type: to list all methods of UnifiedLog would take the jars of half a broker. */
    private MethodHandle updateProducers(Class<?> managerClass) throws ReflectiveOperationException {
        Class<?> log = Members.typeOrNull("org.apache.kafka.storage.internals.log.UnifiedLog");
        if (log == null) {
            return null;
        }
        Class<?> origin = Members.type(managerClass.getPackageName() + ".AppendOrigin");
        MethodType type = MethodType.methodType(
            Optional.class, managerClass, append.getParameterTypes()[0], Map.class, Optional.class, origin);
        boolean versioned = append.getParameterCount() == 3;
        MethodHandle found = MethodHandles.publicLookup()
            .findStatic(log, "updateProducers", versioned ? type.appendParameterTypes(short.class) : type);
        MethodHandle six = versioned ? found : MethodHandles.dropArguments(found, 5, short.class);
        return six.asType(MethodType.genericMethodType(6));
    }

    /** Returns the transaction that this batch completes, or null; {@code infos} are those of one request, by producer id. */
    Object append(Object manager, Object batch, Map<Long, Object> infos, String origin, short transactionVersion)
        throws ReflectiveOperationException {
        if (updateProducers != null) {
            try {
                Object completed = updateProducers.invokeExact(
                    manager, batch, (Object) infos, noOption, origins.get(origin), (Object) transactionVersion);
                return Containers.value(completed);
            } catch (ReflectiveOperationException fault) {
                throw fault;
            } catch (Throwable thrown) {
                throw new InvocationTargetException(thrown);
            }
        }
        long producerId = (Long) Members.read(batch, "producerId");
        Object info = infos.get(producerId);
        if (info == null) {
            info = info(manager, producerId, origin);
            infos.put(producerId, info);
        }
        Object[] arguments = {batch, noOption};
        Object completed = Containers.value(append.invoke(info, Arrays.copyOf(arguments, append.getParameterCount())));
        if ((Boolean) Members.read(batch, "isTransactional") && Members.has(manager, "clearVerificationStateEntry")) {
            Members.call(manager, "clearVerificationStateEntry", producerId);
        }
        return completed;
    }

    private Object info(Object manager, long producerId, String origin) throws ReflectiveOperationException {
        Method prepare = Members.method(manager.getClass(), "prepareUpdate");
        if (prepare.getParameterTypes()[1] != boolean.class) {
            return prepare.invoke(manager, producerId, origins.get(origin));
        }
        // In 0.11.0.0 and 0.11.0.1 a log passes whether it is being loaded, in place of whether a client writes.
        boolean flag = Members.field(infoClass, "loadingFromLog") == null && origin.equals("client");
        return origin.equals("coordinator") ? infoOfCoordinator(manager, producerId) : prepare.invoke(manager, producerId, flag);
    }

    private Object infoOfCoordinator(Object manager, long producerId) throws ReflectiveOperationException {
        Constructor<?> info = Members.constructor(infoClass);
        Object entry = Containers.value(Members.call(manager, "lastEntry", producerId));
        Object coordinator = origins.get("coordinator");
        if (coordinator == null) {
            Object none = Members.type("kafka.log.ProducerIdEntry$").getField("MODULE$").get(null);
            boolean isFromClient = Members.field(infoClass, "loadingFromLog") == null;
            return info.newInstance(producerId, entry == null ? Members.read(none, "Empty") : entry, false, isFromClient);
        }
        Object none = Members.type("kafka.log.ProducerStateEntry$", "kafka.log.ProducerIdEntry$").getField("MODULE$").get(null);
        Object current = entry == null ? Members.call(none, "empty", producerId) : entry;
        return info.getParameterCount() == 3
            ? info.newInstance(producerId, current, coordinator)
            : info.newInstance(BrokerProducerStateAccess.PARTITION, producerId, current, coordinator);
    }
}
