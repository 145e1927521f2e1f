package kafkaoracle.zookeeper_leader_election;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import kafkaoracle.reflection.Members;

/** Scala's collections and options, by reflection: the library is another one for releases up to 2.3.x. */
final class ScalaValues {
    private ScalaValues() {
    }

    static Object module(String name) throws ReflectiveOperationException {
        return Members.getStatic(Class.forName(name + "$"), "MODULE$");
    }

    /** An immutable List of these values; whole numbers become Integers. */
    static Object list(List<?> values) throws ReflectiveOperationException {
        Object list = module("scala.collection.immutable.Nil");
        for (int place = values.size() - 1; place >= 0; place--) {
            Object value = values.get(place);
            list = Members.call(list, "$colon$colon", value instanceof Number number ? (Object) number.intValue() : value);
        }
        return list;
    }

    static Object set(List<?> values) throws ReflectiveOperationException {
        return Members.call(list(values), "toSet");
    }

    /** An immutable Map of these keys, each with the value 0L. */
    static Object epochs(List<?> keys) throws ReflectiveOperationException {
        Object map = Members.call(module("scala.collection.immutable.Map"), "empty");
        for (Object key : keys) {
            map = Members.call(map, "$plus", tuple(key, 0L));
        }
        return map;
    }

    static Object tuple(Object... values) throws ReflectiveOperationException {
        return Members.constructor(Class.forName("scala.Tuple" + values.length)).newInstance(values);
    }

    static Object option(Object value) throws ReflectiveOperationException {
        return value == null ? module("scala.None") : Members.constructor(Class.forName("scala.Some")).newInstance(value);
    }

    /** What an option holds, or null. */
    static Object value(Object option) throws ReflectiveOperationException {
        return (Boolean) Members.call(option, "isEmpty") ? null : Members.call(option, "get");
    }

    static List<Object> values(Object collection) throws ReflectiveOperationException {
        List<Object> values = new ArrayList<>();
        Object iterator = Members.call(collection, "iterator");
        while ((Boolean) Members.call(iterator, "hasNext")) {
            values.add(Members.call(iterator, "next"));
        }
        return values;
    }

    static List<?> listIn(Map<String, Object> question, String name) {
        Object found = question.get(name);
        return found == null ? List.of() : (List<?>) found;
    }

    static boolean flag(Map<String, Object> question, String name, boolean otherwise) {
        Object found = question.get(name);
        return found == null ? otherwise : (Boolean) found;
    }
}
