package kafkaoracle.partition;

import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.util.List;
import java.util.Map;
import kafkaoracle.reflection.Arguments;
import kafkaoracle.reflection.Members;
import org.apache.kafka.common.Uuid;

/** Kafka's KRaftMetadataCache with the registrations of brokers that a question names. */
final class ClusterMetadata {
    private static final String IMAGE = "org.apache.kafka.image.";
    private static final String RECORDS = "org.apache.kafka.common.metadata.";

    final Object cache;
    private Object image;

    ClusterMetadata() throws Exception {
        Constructor<?> constructor = Members.constructor(
            Members.type("org.apache.kafka.metadata.KRaftMetadataCache", "kafka.server.metadata.KRaftMetadataCache"));
        cache = constructor.newInstance(new Arguments().match(constructor.getParameterTypes(), Defaults::make));
        image = Members.getStatic(Class.forName(IMAGE + "MetadataImage"), "EMPTY");
    }

    void begin(List<?> brokers) throws Exception {
        image = Members.getStatic(Class.forName(IMAGE + "MetadataImage"), "EMPTY");
        Members.call(cache, "setImage", image);
        for (Object broker : brokers) {
            register((Map<?, ?>) broker);
        }
    }

    /** Registers a broker, or registers it again. */
    void register(Map<?, ?> broker) throws Exception {
        Object record = Class.forName(RECORDS + "RegisterBrokerRecord").getConstructor().newInstance();
        Members.call(record, "setBrokerId", ((Number) broker.get("id")).intValue());
        Members.call(record, "setBrokerEpoch", ((Number) broker.get("epoch")).longValue());
        Members.call(record, "setIncarnationId", new Uuid(1, 1));
        Members.call(record, "setFenced", Boolean.TRUE.equals(broker.get("fenced")));
        Members.call(record, "setInControlledShutdown", Boolean.TRUE.equals(broker.get("shutting_down")));
        replay(record);
    }

    void unregister(int id) throws Exception {
        Object record = Class.forName(RECORDS + "UnregisterBrokerRecord").getConstructor().newInstance();
        Members.call(record, "setBrokerId", id);
        replay(record);
    }

    private void replay(Object record) throws Exception {
        Object delta = delta();
        delta.getClass().getMethod("replay", record.getClass()).invoke(delta, record);
        Method apply = Members.method(delta.getClass(), "apply");
        image = apply.invoke(delta, new Arguments().match(apply.getParameterTypes(),
            type -> Members.getStatic(type, "EMPTY")));
        Members.call(cache, "setImage", image);
    }

    private Object delta() throws Exception {
        Class<?> type = Class.forName(IMAGE + "MetadataDelta");
        Class<?> builder = Members.nestedType(type, "Builder");
        if (builder == null) {
            return type.getConstructor(image.getClass()).newInstance(image);
        }
        Object built = builder.getConstructor().newInstance();
        return Members.call(Members.call(built, "setImage", image), "build");
    }
}
