package kafkaoracle.reflection;

import java.lang.reflect.AccessibleObject;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * Classes and members of Kafka's by name, whatever their visibility: releases moved classes, and added parameters to methods.
 *
 * A look-up returns null where the release has nothing of that name; what reads, sets or calls a member by its name throws
 * a ReflectiveOperationException then. Each member is looked up once.
 */
public final class Members {
    private static final Map<Class<?>, Map<String, Optional<? extends AccessibleObject>>> KNOWN = new HashMap<>();

    private Members() {
    }

    /** The first of these classes that the release has. */
    public static Class<?> type(String... names) throws ClassNotFoundException {
        Class<?> found = typeOrNull(names);
        if (found == null) {
            throw new ClassNotFoundException(names[0]);
        }
        return found;
    }

    public static Class<?> typeOrNull(String... names) {
        for (String name : names) {
            try {
                return Class.forName(name);
            } catch (ClassNotFoundException absent) {
                continue;
            }
        }
        return null;
    }

    /** A class of org.apache.kafka.common.record, which is common.record.internal since 4.3.0. */
    public static Class<?> recordType(String name) throws ClassNotFoundException {
        return type("org.apache.kafka.common.record.internal." + name, "org.apache.kafka.common.record." + name);
    }

    public static Class<?> nestedType(Class<?> outer, String name) {
        return Arrays.stream(outer.getDeclaredClasses()).filter(each -> each.getSimpleName().equals(name)).findFirst().orElse(null);
    }

    /** The constructor with the most parameters. */
    public static Constructor<?> constructor(Class<?> type) {
        Constructor<?> found = Arrays.stream(type.getDeclaredConstructors())
            .max(Comparator.comparing(Constructor::getParameterCount)).orElseThrow();
        found.setAccessible(true);
        return found;
    }

    /** The method of this name with the most parameters, declared or inherited. */
    public static Method method(Class<?> type, String name) {
        return (Method) known(type, name + "()", () -> methods(type, name)
            .reduce((best, each) -> each.getParameterCount() > best.getParameterCount() ? each : best));
    }

    public static Method method(Class<?> type, String name, int parameters) {
        return (Method) known(type, name + parameters, () -> methods(type, name)
            .filter(each -> each.getParameterCount() == parameters).findFirst());
    }

    public static boolean has(Object object, String method) {
        return method(object.getClass(), method) != null;
    }

    /** Calls the method of this name that has as many parameters; what it throws comes in an InvocationTargetException. */
    public static Object call(Object object, String name, Object... arguments) throws ReflectiveOperationException {
        return required(object, name, arguments.length).invoke(object, arguments);
    }

    public static Method required(Object object, String name, int parameters) throws NoSuchMethodException {
        Method found = method(object.getClass(), name, parameters);
        if (found == null) {
            throw new NoSuchMethodException(object.getClass().getName() + "." + name + " with " + parameters + " parameters");
        }
        return found;
    }

    /** The field of this name, declared or inherited. */
    public static Field field(Class<?> type, String name) {
        return (Field) known(type, name, () -> hierarchy(type).flatMap(each -> Arrays.stream(each.getDeclaredFields()))
            .filter(each -> each.getName().equals(name)).findFirst());
    }

    public static Object get(Object object, String field) throws ReflectiveOperationException {
        return getStatic(object.getClass(), field, object);
    }

    public static Object getStatic(Class<?> type, String field) throws ReflectiveOperationException {
        return getStatic(type, field, null);
    }

    private static Object getStatic(Class<?> type, String name, Object object) throws ReflectiveOperationException {
        return required(type, name).get(object);
    }

    public static void set(Object object, String field, Object value) throws ReflectiveOperationException {
        required(object.getClass(), field).set(object, value);
    }

    private static Field required(Class<?> type, String name) throws NoSuchFieldException {
        Field found = field(type, name);
        if (found == null) {
            throw new NoSuchFieldException(type.getName() + "." + name);
        }
        return found;
    }

    /** What a method without parameters returns, or else what the field of this name holds. */
    public static Object read(Object object, String name) throws ReflectiveOperationException {
        Method found = method(object.getClass(), name, 0);
        return found != null ? found.invoke(object) : get(object, name);
    }

    /** An object of this interface whose methods are all {@code handler}. */
    public static Object proxy(Class<?> type, InvocationHandler handler) {
        return Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler);
    }

    private static Object known(Class<?> type, String key, Supplier<Optional<? extends AccessibleObject>> look) {
        Map<String, Optional<? extends AccessibleObject>> members = KNOWN.computeIfAbsent(type, each -> new HashMap<>());
        Optional<? extends AccessibleObject> found = members.get(key);
        if (found == null) {
            found = look.get();
            found.ifPresent(member -> member.setAccessible(true));
            members.put(key, found);
        }
        return found.orElse(null);
    }

    private static Stream<Method> methods(Class<?> type, String name) {
        Stream<Method> declared = hierarchy(type).flatMap(each -> Arrays.stream(each.getDeclaredMethods()));
        return Stream.concat(declared, Arrays.stream(type.getMethods()))
            .filter(each -> each.getName().equals(name) && !each.isBridge());
    }

    private static Stream<Class<?>> hierarchy(Class<?> type) {
        return Stream.<Class<?>>iterate(type, each -> each != null, each -> each.getSuperclass());
    }
}
