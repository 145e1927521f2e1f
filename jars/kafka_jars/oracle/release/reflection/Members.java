package kafkaoracle.reflection;

import java.lang.reflect.AccessibleObject;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Classes by name, their members by name, and what both Java and Scala put around values taken off: the broker's classes
 * moved from Scala to Java keeping the names of what is in them.
 */
public final class Members {
    private final Map<Class<?>, Map<String, Optional<Method>>> methods = new HashMap<>();
    private final Map<Class<?>, Map<String, AccessibleObject>> members = new HashMap<>();

    /** The first of these classes that the release has. */
    public static Class<?> first(String... names) throws ClassNotFoundException {
        for (String name : names) {
            try {
                return Class.forName(name, true, Members.class.getClassLoader());
            } catch (ClassNotFoundException absent) {
                continue;
            }
        }
        throw new ClassNotFoundException(names[0]);
    }

    /** The method of this name that takes most. */
    public static Method method(Class<?> of, String name) throws NoSuchMethodException {
        Method found = named(of, name);
        if (found == null) {
            throw new NoSuchMethodException(of.getName() + "." + name);
        }
        found.setAccessible(true);
        return found;
    }

    public static Constructor<?> constructor(Class<?> of) {
        Constructor<?> made = of.getDeclaredConstructors()[0];
        for (Constructor<?> other : of.getDeclaredConstructors()) {
            if (other.getParameterCount() > made.getParameterCount()) {
                made = other;
            }
        }
        made.setAccessible(true);
        return made;
    }

    /** The method of this name that takes most, if the object has one. */
    public Optional<Method> known(Object on, String name) {
        Map<String, Optional<Method>> ofClass = methods.computeIfAbsent(on.getClass(), any -> new HashMap<>());
        Optional<Method> found = ofClass.get(name);
        if (found == null) {
            found = Optional.ofNullable(named(on.getClass(), name));
            found.ifPresent(method -> method.setAccessible(true));
            ofClass.put(name, found);
        }
        return found;
    }

    public boolean has(Object on, String name) {
        return known(on, name).isPresent();
    }

    /** Calls the method of this name. What it throws comes wrapped, as reflection has it. */
    public Object call(Object on, String name, Object... given) throws ReflectiveOperationException {
        Method found = known(on, name).orElseThrow(() -> new NoSuchMethodException(on.getClass().getName() + "." + name));
        return found.invoke(on, given);
    }

    /** What an object says under this name: a method without parameters, or a field. */
    public Object read(Object on, String name) throws ReflectiveOperationException {
        Map<String, AccessibleObject> known = members.computeIfAbsent(on.getClass(), any -> new HashMap<>());
        AccessibleObject found = known.get(name);
        if (found == null) {
            found = member(on.getClass(), name);
            found.setAccessible(true);
            known.put(name, found);
        }
        return found instanceof Method method ? method.invoke(on) : ((Field) found).get(on);
    }

    public long number(Object on, String name) throws ReflectiveOperationException {
        return ((Number) read(on, name)).longValue();
    }

    /** What is in an Optional, an OptionalLong or a scala.Option; null if nothing is. */
    public Object inside(Object option) throws ReflectiveOperationException {
        if (option instanceof Optional<?> optional) {
            return optional.orElse(null);
        }
        if (option instanceof OptionalLong optional) {
            return optional.isPresent() ? optional.getAsLong() : null;
        }
        return (Boolean) call(option, "isEmpty") ? null : call(option, "get");
    }

    /** What is in a collection, of Java or of Scala; of a map, the values. */
    public List<Object> all(Object collection) throws ReflectiveOperationException {
        List<Object> found = new ArrayList<>();
        if (collection instanceof Map<?, ?> map) {
            found.addAll(map.values());
        } else if (collection instanceof Iterable<?> iterable) {
            iterable.forEach(found::add);
        } else {
            Object values = has(collection, "values") ? call(collection, "values") : collection;
            Object iterator = call(values, "iterator");
            while ((Boolean) call(iterator, "hasNext")) {
                found.add(call(iterator, "next"));
            }
        }
        return found;
    }

    private static Method named(Class<?> of, String name) {
        Method found = null;
        for (Class<?> at = of; at != null; at = at.getSuperclass()) {
            found = moreOf(found, at.getDeclaredMethods(), name);
        }
        return moreOf(found, of.getMethods(), name);
    }

    private static Method moreOf(Method best, Method[] methods, String name) {
        Method found = best;
        for (Method method : methods) {
            boolean named = method.getName().equals(name) && !method.isBridge();
            if (named && (found == null || method.getParameterCount() > found.getParameterCount())) {
                found = method;
            }
        }
        return found;
    }

    private static AccessibleObject member(Class<?> of, String name) throws ReflectiveOperationException {
        for (Class<?> at = of; at != null; at = at.getSuperclass()) {
            for (Method method : at.getDeclaredMethods()) {
                if (method.getName().equals(name) && method.getParameterCount() == 0) {
                    return method;
                }
            }
        }
        return of.getDeclaredField(name);
    }
}
