package kafkaoracle.sender;

import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import kafkaoracle.accumulator.SteppedClock;
import kafkaoracle.reflection.Arguments;
import kafkaoracle.reflection.Members;
import org.apache.kafka.clients.ClientRequest;
import org.apache.kafka.clients.ClientResponse;
import org.apache.kafka.clients.RequestCompletionHandler;

/**
 * NetworkClient's requests in flight: Kafka's InFlightRequests of NetworkClient.InFlightRequest, up to 0.10.1 of
 * ClientRequest.
 */
final class InFlightRequests {
    private static final Class<?> ONE = Members.typeOrNull("org.apache.kafka.clients.NetworkClient$InFlightRequest");
    private static final Constructor<?> NEW_ONE = ONE == null ? null : Members.constructor(ONE);
    private static final Object SENT = ONE == null ? null : Members.proxy(
        Members.field(ONE, "send").getType(),
        (self, method, arguments) -> method.getName().equals("completed") ? (Object) true : null);

    private final Object requests;
    private final String count;
    private final SteppedClock clock;
    private final int requestTimeoutMs;

    InFlightRequests(int maxInFlight, int requestTimeoutMs, SteppedClock clock) throws ReflectiveOperationException {
        this.clock = clock;
        this.requestTimeoutMs = requestTimeoutMs;
        requests = Members.constructor(Members.type("org.apache.kafka.clients.InFlightRequests")).newInstance(maxInFlight);
        count = Members.has(requests, "count") ? "count" : "inFlightRequestCount"; // up to 0.10.2
    }

    boolean canSendMore(String node) {
        return (Boolean) call("canSendMore", node);
    }

    int count() {
        return (Integer) call(count);
    }

    int count(String node) {
        return (Integer) call(count, node);
    }

    /** Adds a request as if all of it was on the wire now, and returns what is in flight. */
    Object add(ClientRequest request, long now) throws Exception {
        Object added = ONE == null ? written(request, now) : inFlight(request, now);
        call("add", added);
        return added;
    }

    private static Object written(ClientRequest request, long now) throws ReflectiveOperationException {
        Members.set(Members.call(request, "request"), "remaining", 0);
        Members.call(request, "setSendTimeMs", now);
        return request;
    }

    private static Object inFlight(ClientRequest request, long now) throws Exception {
        Method make = Members.method(ClientRequest.class, "makeHeader"); // in 0.10.2 without a version
        Object header = make.getParameterCount() == 0 ? make.invoke(request) : make.invoke(request, (short) 0);
        return NEW_ONE.newInstance(new Arguments()
            .give(long.class, request.createdTimeMs(), now).give(boolean.class, request.expectResponse(), false)
            .giveAll(String.class, destination(request)).giveAll(RequestCompletionHandler.class, request.callback())
            .giveAll(header.getClass(), header)
            .match(NEW_ONE.getParameterTypes(), type -> type == int.class ? Members.call(request, "requestTimeoutMs")
                : type.isInstance(SENT) ? SENT : null));
    }

    static String destination(ClientRequest request) throws ReflectiveOperationException {
        Object described = Members.has(request, "destination") ? request : Members.call(request, "request");
        return (String) Members.call(described, "destination");
    }

    Object completeLastSent(String node) {
        return call("completeLastSent", node);
    }

    Object completeNext(String node) {
        return call("completeNext", node);
    }

    Object oldest(String node) throws ReflectiveOperationException {
        return ((Deque<?>) ((Map<?, ?>) Members.get(requests, "requests")).get(node)).peekLast();
    }

    Iterable<?> clearAll(String node) {
        return (Iterable<?>) call("clearAll", node);
    }

    List<?> timedOut() {
        return (List<?>) (Members.has(requests, "nodesWithTimedOutRequests")
            ? call("nodesWithTimedOutRequests", clock.now) : call("getNodesWithTimedOutRequests", clock.now, requestTimeoutMs));
    }

    /** The ClientResponse to a request that was answered; without a {@code body} it wanted no answer. */
    ClientResponse completed(Object inFlight, Object body) throws ReflectiveOperationException {
        return ONE == null ? response(inFlight, false, body)
            : (ClientResponse) Members.call(inFlight, "completed", body, clock.now);
    }

    ClientResponse disconnected(Object inFlight, boolean isLate) throws ReflectiveOperationException {
        if (ONE == null) {
            return response(inFlight, true, null);
        }
        Method method = Members.method(ONE, isLate && Members.has(inFlight, "timedOut") ? "timedOut" : "disconnected");
        return (ClientResponse) (method.getParameterCount() == 1
            ? method.invoke(inFlight, clock.now) : method.invoke(inFlight, clock.now, null));
    }

    /** Up to 0.10.1 a response holds a Struct. */
    private ClientResponse response(Object request, boolean isLost, Object body) throws ReflectiveOperationException {
        Object struct = body == null ? null : Members.call(body, "toStruct");
        return (ClientResponse) ClientResponse.class.getConstructors()[0].newInstance(request, clock.now, isLost, struct);
    }

    private Object call(String name, Object... arguments) {
        try {
            return Members.call(requests, name, arguments);
        } catch (InvocationTargetException thrown) {
            throw new IllegalStateException(thrown.getCause());
        } catch (ReflectiveOperationException changed) {
            throw new IllegalStateException(changed);
        }
    }
}
