package kafkaoracle.partition;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import kafkaoracle.reflection.Members;

/** Scala's collections, options and functions, which some releases take where others take Java's. */
final class Scala {
    private static final String CONVERTERS = "scala.jdk.javaapi.CollectionConverters";

    private Scala() {
    }

    static Object none() throws ReflectiveOperationException {
        return Class.forName("scala.Option").getMethod("empty").invoke(null);
    }

    static Object seq(List<?> list) throws ReflectiveOperationException {
        return Class.forName(CONVERTERS).getMethod("asScala", List.class).invoke(null, list);
    }

    static Object map(Map<?, ?> map) throws ReflectiveOperationException {
        return Class.forName(CONVERTERS).getMethod("asScala", Map.class).invoke(null, map);
    }

    /** A map of either language as Java's. */
    static Map<?, ?> javaMap(Object map) throws ReflectiveOperationException {
        if (map instanceof Map<?, ?> already) {
            return already;
        }
        return (Map<?, ?>) Class.forName(CONVERTERS).getMethod("asJava", Class.forName("scala.collection.Map")).invoke(null, map);
    }

    /** The elements of a collection of either language. */
    static List<Object> elements(Object collection) throws ReflectiveOperationException {
        if (collection instanceof Collection<?> already) {
            return new ArrayList<>(already);
        }
        Object iterable = Class.forName(CONVERTERS).getMethod("asJavaCollection", Class.forName("scala.collection.Iterable"))
            .invoke(null, collection);
        return new ArrayList<>((Collection<?>) iterable);
    }

    /** What an Option or an Optional holds; null for an empty one, and for null. */
    static Object value(Object option) throws ReflectiveOperationException {
        if (option instanceof Optional<?> optional) {
            return optional.orElse(null);
        }
        return option == null || (Boolean) Members.call(option, "isEmpty") ? null : Members.call(option, "get");
    }

    /** A function of this type, which calls {@code body} with its first argument, or with null. */
    static Object function(Class<?> type, Function<Object, Object> body) {
        return Members.proxy(type, (self, method, arguments) -> called(method)
            ? body.apply(arguments == null ? null : arguments[0]) : Defaults.of(self, method));
    }

    private static boolean called(Method method) {
        return method.getName().startsWith("apply") || method.getName().equals("accept") || method.getName().equals("get");
    }
}
