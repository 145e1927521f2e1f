package kafkaoracle.reflection;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;

/**
 * Arguments for a constructor or method whose parameters were moved, added and removed from release to release: each goes
 * by the type of the parameter, and several of one type in the order in which they were given.
 */
public final class Arguments {
    /** Gives the argument for a parameter of a type that no argument was given for. */
    public interface Others {
        Object argument(Class<?> type) throws Exception;
    }

    private final Map<Class<?>, Iterator<?>> given = new HashMap<>();
    private final Map<Class<?>, Object> everywhere = new HashMap<>();

    /** Each of these goes to one parameter of this type; those for which there is none are left out. */
    public Arguments give(Class<?> type, Object... values) {
        given.put(type, Arrays.asList(values).iterator());
        return this;
    }

    /** This goes to every parameter of this type. */
    public Arguments giveAll(Class<?> type, Object value) {
        everywhere.put(type, value);
        return this;
    }

    public Object[] match(Class<?>[] parameters, Others others) throws Exception {
        Object[] matched = new Object[parameters.length];
        for (int place = 0; place < parameters.length; place++) {
            Class<?> type = parameters[place];
            matched[place] = given.containsKey(type) ? given.get(type).next()
                : everywhere.containsKey(type) ? everywhere.get(type)
                : others.argument(type);
        }
        return matched;
    }
}
