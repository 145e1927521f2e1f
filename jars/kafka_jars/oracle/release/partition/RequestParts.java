package kafkaoracle.partition;

import java.lang.reflect.Constructor;
import kafkaoracle.reflection.Arguments;
import kafkaoracle.reflection.Members;

/** What comes with a request: its origin and isolation, and the parameters of a follower's fetch. */
final class RequestParts {
    private static final String STORAGE = "org.apache.kafka.storage.internals.log.";
    private static final String SERVER = "org.apache.kafka.server.storage.log.";

    private RequestParts() {
    }

    /** An argument of an append: it comes from a client, without buffers and transactions. */
    static Object part(Class<?> type) throws Exception {
        switch (type.getSimpleName()) {
            case "AppendOrigin":
                return type.isEnum() ? type.getField("CLIENT").get(null) : module("kafka.log.AppendOrigin$Client$");
            case "RequestLocal":
                return Members.method(type, type.getName().startsWith("kafka.") ? "NoCaching" : "noCaching", 0).invoke(null);
            case "VerificationGuard":
                return type.getField("SENTINEL").get(null);
            case "Object":
            case "String":
                return null;
            default:
                return Defaults.make(type);
        }
    }

    static Object fetchParams(int replica, long brokerEpoch) throws Exception {
        Class<?> type = Members.type(SERVER + "FetchParams", STORAGE + "FetchParams", "kafka.server.FetchParams");
        Constructor<?> constructor = Members.constructor(type);
        return constructor.newInstance(new Arguments().give(int.class, replica, 1, 1)
            .give(long.class, brokerEpoch, 0L)
            .match(constructor.getParameterTypes(), RequestParts::fetchPart));
    }

    private static Object fetchPart(Class<?> type) throws Exception {
        if (type.getSimpleName().equals("FetchIsolation")) {
            return type.isEnum() ? type.getField("LOG_END").get(null) : module("kafka.server.FetchLogEnd$");
        }
        return Defaults.make(type);
    }

    private static Object module(String name) throws Exception {
        return Class.forName(name).getField("MODULE$").get(null);
    }
}
