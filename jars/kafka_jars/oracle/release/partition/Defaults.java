package kafkaoracle.partition;

import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.ScheduledFuture;
import kafkaoracle.reflection.Members;
import org.apache.kafka.common.config.AbstractConfig;

/**
 * Values for what Kafka's constructors and interfaces want and the rules do not ask about: zeros, empty collections,
 * interfaces that answer with such values, and objects made by their shortest constructor.
 */
final class Defaults {
    private Defaults() {
    }

    static Object make(Class<?> type) throws ReflectiveOperationException {
        Object simple = simple(type);
        if (simple != null || type.isPrimitive()) {
            return simple;
        }
        if (type.isInterface()) {
            return Members.proxy(type, (self, method, arguments) -> of(self, method));
        }
        if (type.isEnum()) {
            return type.getEnumConstants()[type.getEnumConstants().length - 1];
        }
        return shortest(type);
    }

    /** What a method of an interface returns, unless a value was set for it. */
    static Object of(Object self, Method method) throws ReflectiveOperationException {
        switch (method.getName()) {
            case "hashCode":
                return System.identityHashCode(self);
            case "toString":
                return method.getDeclaringClass().getSimpleName();
            case "equals":
                return false;
            default:
                return simple(method.getReturnType());
        }
    }

    private static Object shortest(Class<?> type) throws ReflectiveOperationException {
        Constructor<?> constructor = Arrays.stream(type.getDeclaredConstructors())
            .filter(each -> !List.of(each.getParameterTypes()).contains(AbstractConfig.class))
            .min(Comparator.comparing(Constructor::getParameterCount)).orElseThrow();
        constructor.setAccessible(true);
        Object[] arguments = new Object[constructor.getParameterCount()];
        for (int place = 0; place < arguments.length; place++) {
            arguments[place] = make(constructor.getParameterTypes()[place]);
        }
        return constructor.newInstance(arguments);
    }

    private static Object simple(Class<?> type) throws ReflectiveOperationException {
        if (type.isPrimitive()) {
            return primitive(type);
        }
        if (type == Optional.class) {
            return Optional.empty();
        }
        if (type == String.class) {
            return "";
        }
        if (type == Properties.class) {
            return new Properties();
        }
        if (type == ScheduledFuture.class) {
            return Members.proxy(type, (self, method, arguments) -> of(self, method));
        }
        return collection(type);
    }

    private static Object collection(Class<?> type) throws ReflectiveOperationException {
        if (type == List.class || type == Collection.class) {
            return List.of();
        }
        if (type == Map.class) {
            return Map.of();
        }
        if (type == Set.class) {
            return Set.of();
        }
        switch (type.getName()) {
            case "scala.Option":
                return Scala.none();
            case "scala.collection.Seq":
                return Scala.seq(List.of());
            case "scala.collection.Map":
                return Scala.map(Map.of());
            case "scala.collection.immutable.Set":
                return Members.call(Members.getStatic(Class.forName("scala.collection.immutable.Set$"), "MODULE$"), "empty");
            default:
                return null;
        }
    }

    private static Object primitive(Class<?> type) {
        if (type == boolean.class) {
            return false;
        }
        if (type == int.class) {
            return 1;
        }
        if (type == long.class) {
            return 1L;
        }
        if (type == short.class) {
            return (short) 0;
        }
        if (type == byte.class) {
            return (byte) 0;
        }
        return type == double.class ? (Object) 1.0 : null;
    }
}
