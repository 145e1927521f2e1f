package kafkaoracle.broker_producer_state;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import kafkaoracle.reflection.Members;

/** What is in a container of Java's or of Scala's: the broker's classes moved from Scala to Java, keeping their names. */
final class Containers {
    private Containers() {
    }

    /** What is in an Optional, an OptionalLong or a scala.Option; null if it is empty. */
    static Object value(Object option) throws ReflectiveOperationException {
        if (option instanceof Optional<?> optional) {
            return optional.orElse(null);
        }
        if (option instanceof OptionalLong optional) {
            return optional.isPresent() ? optional.getAsLong() : null;
        }
        return (Boolean) Members.call(option, "isEmpty") ? null : Members.call(option, "get");
    }

    /** The elements of a collection, or the values of a map. */
    static List<Object> elements(Object collection) throws ReflectiveOperationException {
        List<Object> found = new ArrayList<>();
        if (collection instanceof Map<?, ?> map) {
            found.addAll(map.values());
        } else if (collection instanceof Iterable<?> iterable) {
            iterable.forEach(found::add);
        } else {
            Object values = Members.has(collection, "values") ? Members.call(collection, "values") : collection;
            Object iterator = Members.call(values, "iterator");
            while ((Boolean) Members.call(iterator, "hasNext")) {
                found.add(Members.call(iterator, "next"));
            }
        }
        return found;
    }
}
