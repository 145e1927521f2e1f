package kafkaoracle;

import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.ClientRequest;
import org.apache.kafka.clients.ClientResponse;
import org.apache.kafka.clients.KafkaClient;
import org.apache.kafka.clients.RequestCompletionHandler;
import org.apache.kafka.common.Node;

/**
 * What is between a Sender and its brokers: a KafkaClient that sends nothing, and answers what the question says.
 *
 * It does what NetworkClient does, with NetworkClient's own requests in flight, which know whether a node may be sent
 * more, which request is answered next, and in which order those of a lost connection end. In one poll come, in this
 * order: the ends of requests that want no answer, one answer of each node, lost connections, requests that took too long.
 * A completion that raises is noted, and the next one goes on. A connection that was lost is there again at once.
 *
 * Who asks for a producer id asks a node that leads nothing.
 */
final class SenderNetwork {
    /** A request that was sent, and not ended yet. */
    static final class Sent {
        final ClientRequest request;
        final List<Object> described;
        private final Object inFlight;

        Sent(ClientRequest request, Object inFlight, List<Object> described) {
            this.request = request;
            this.inFlight = inFlight;
            this.described = described;
        }
    }

    /** What answers a request: Kafka's own AbstractResponse. */
    interface Answer {
        Object to(Sent sent) throws Exception;
    }

    static final Node COORDINATOR = new Node(999, "coordinator", 9092);

    private static final Class<?> IN_FLIGHT = kafkas("org.apache.kafka.clients.InFlightRequests");
    private static final Class<?> ONE_IN_FLIGHT = kafkas("org.apache.kafka.clients.NetworkClient$InFlightRequest");
    private static final Constructor<?> NEW_IN_FLIGHT = Arrays.stream(ONE_IN_FLIGHT.getDeclaredConstructors())
        .max(Comparator.comparing(Constructor::getParameterCount)).orElseThrow();
    private static final Constructor<?> NEW_REQUEST = ClientRequest.class.getConstructors()[0];
    private static final Object SENT = RecordAccumulatorAccess.proxy(
        RecordAccumulatorAccess.field(ONE_IN_FLIGHT, "send").getType(), (self, method, arguments) -> method.getName().equals("completed") ? (Object) true : null);

    final KafkaClient client;
    final List<Sent> sent = new ArrayList<>();
    final List<String> uncaught = new ArrayList<>();

    static {
        NEW_IN_FLIGHT.setAccessible(true);
    }

    private final RecordAccumulatorAccess clock;
    private final Answer idAnswers;
    private final Object requests;
    private final Map<Object, Sent> bySending = new HashMap<>();
    private final Map<String, Deque<Answer>> answers = new LinkedHashMap<>();
    private final Set<String> lost = new LinkedHashSet<>();
    private int numbered;
    private Throwable fault;

    SenderNetwork(RecordAccumulatorAccess clock, int maxInFlight, Answer idAnswers) throws Exception {
        this.clock = clock;
        this.idAnswers = idAnswers;
        Constructor<?> made = IN_FLIGHT.getDeclaredConstructor(int.class);
        made.setAccessible(true);
        requests = made.newInstance(maxInFlight);
        client = (KafkaClient) RecordAccumulatorAccess.proxy(KafkaClient.class, (self, method, arguments) -> {
            try {
                return asked(method, arguments);
            } catch (Throwable ours) {
                fault = fault == null ? ours : fault;
                throw new IllegalStateException(ours);
            }
        });
    }

    private Object asked(Method method, Object[] arguments) throws Exception {
        switch (method.getName()) {
            case "isReady":
            case "ready":
                return call("canSendMore", ((Node) arguments[0]).idString());
            case "newClientRequest":
                return request(arguments);
            case "send":
                send((ClientRequest) arguments[0]);
                return null;
            case "poll":
                return poll();
            case "leastLoadedNode":
                return method.getReturnType() == Node.class ? COORDINATOR
                    : method.getReturnType().getConstructor(Node.class, boolean.class).newInstance(COORDINATOR, true);
            case "inFlightRequestCount":
                return arguments == null ? call("count") : call("count", arguments[0]);
            case "active":
                return true;
            case "connectionDelay":
            case "pollDelayMs":
                return 0L;
            case "wakeup":
                return null;
            default:
                throw new IllegalStateException("nobody foresaw that a Sender asks for KafkaClient." + method.getName());
        }
    }

    /** A fault of the network's own is nothing that Kafka raised, though it came up through Kafka. */
    void check() {
        if (fault != null) {
            throw new IllegalStateException("the network before the Sender failed: " + fault, fault);
        }
    }

    private ClientRequest request(Object[] given) throws Exception {
        List<Object> integers = new ArrayList<>();
        integers.add(numbered);
        for (Object one : given) {
            if (one instanceof Integer) {
                integers.add(one);
            }
        }
        List<Object> strings = new ArrayList<>(List.of(given[0], "client"));
        Object[] arguments = Arrays.stream(NEW_REQUEST.getParameterTypes()).map(type ->
            type == String.class ? strings.remove(0)
                : type == int.class ? integers.remove(0)
                : Arrays.stream(given).filter(one -> box(type).isInstance(one)).findFirst().orElse(null)).toArray();
        return (ClientRequest) NEW_REQUEST.newInstance(arguments);
    }

    private void send(ClientRequest request) throws Exception {
        List<Object> longs = new ArrayList<>(List.of(request.createdTimeMs(), clock.now));
        List<Object> booleans = new ArrayList<>(List.of(request.expectResponse(), false));
        Object header = request.makeHeader((short) 0);
        Class<?>[] types = NEW_IN_FLIGHT.getParameterTypes();
        Object[] arguments = new Object[types.length];
        for (int at = 0; at < types.length; at++) {
            Class<?> type = types[at];
            arguments[at] = type == long.class ? longs.remove(0)
                : type == boolean.class ? booleans.remove(0)
                : type == int.class ? RecordAccumulatorAccess.declared(ClientRequest.class, "requestTimeoutMs").invoke(request)
                : type == String.class ? request.destination()
                : type.isInstance(header) ? header
                : type == RequestCompletionHandler.class ? request.callback()
                : type.isInstance(SENT) ? SENT
                : null;
        }
        Object inFlight = NEW_IN_FLIGHT.newInstance(arguments);
        boolean asksForId = request.destination().equals(COORDINATOR.idString());
        Sent one = new Sent(request, inFlight, asksForId ? List.of() : SenderAccess.onTheWire(request));
        numbered++;
        bySending.put(inFlight, one);
        sent.add(one);
        call("add", inFlight);
        if (asksForId) {
            answer(COORDINATOR.idString(), idAnswers);
        }
    }

    /** The next request of this node will be answered so; false if there is none left to answer. */
    boolean answer(String node, Answer answer) throws Exception {
        Deque<Answer> waiting = answers.computeIfAbsent(node, key -> new ArrayDeque<>());
        boolean any = waiting.size() < (Integer) call("count", node);
        if (any) {
            waiting.add(answer);
        }
        return any;
    }

    void lose(String node) {
        lost.add(node);
    }

    int inFlight(String node) throws Exception {
        return (Integer) call("count", node);
    }

    private List<ClientResponse> poll() throws Exception {
        List<ClientResponse> ended = new ArrayList<>();
        for (Sent one : new ArrayList<>(sent)) {
            if (!one.request.expectResponse() && bySending.containsKey(one.inFlight)) {
                ended.add(completed(call("completeLastSent", one.request.destination()), null));
            }
        }
        for (Map.Entry<String, Deque<Answer>> waiting : answers.entrySet()) {
            Answer next = waiting.getValue().peek();
            Object body = next == null ? null : next.to(oldest(waiting.getKey()));
            if (body != null) {
                waiting.getValue().remove();
                ended.add(completed(call("completeNext", waiting.getKey()), body));
            }
        }
        for (String node : lost) {
            end(node, false, ended);
        }
        lost.clear();
        for (Object node : timedOut()) {
            end((String) node, true, ended);
        }
        for (ClientResponse response : ended) {
            try {
                response.onComplete();
            } catch (RuntimeException raised) {
                uncaught.add(raised.getClass().getSimpleName());
            }
        }
        return ended;
    }

    private Sent oldest(String node) throws Exception {
        Map<?, ?> all = (Map<?, ?>) RecordAccumulatorAccess.field(IN_FLIGHT, "requests").get(requests);
        return bySending.get(((Deque<?>) all.get(node)).peekLast());
    }

    private ClientResponse completed(Object inFlight, Object body) throws Exception {
        bySending.remove(inFlight);
        return (ClientResponse) RecordAccumulatorAccess.declared(ONE_IN_FLIGHT, "completed").invoke(inFlight, body, clock.now);
    }

    private void end(String node, boolean late, List<ClientResponse> ended) throws Exception {
        answers.remove(node);
        Method timedOut = RecordAccumulatorAccess.declared(ONE_IN_FLIGHT, "timedOut");
        Method method = late && timedOut != null ? timedOut : RecordAccumulatorAccess.declared(ONE_IN_FLIGHT, "disconnected");
        for (Iterator<?> all = ((Iterable<?>) call("clearAll", node)).iterator(); all.hasNext();) {
            Object one = all.next();
            bySending.remove(one);
            ended.add((ClientResponse) (method.getParameterCount() == 1
                ? method.invoke(one, clock.now) : method.invoke(one, clock.now, null)));
        }
    }

    private List<?> timedOut() throws Exception {
        Method method = RecordAccumulatorAccess.declared(IN_FLIGHT, "nodesWithTimedOutRequests");
        return method != null ? (List<?>) method.invoke(requests, clock.now)
            : (List<?>) call("getNodesWithTimedOutRequests", clock.now, clock.requestTimeout);
    }

    private Object call(String name, Object... arguments) throws Exception {
        for (Method method : IN_FLIGHT.getDeclaredMethods()) {
            if (method.getName().equals(name) && method.getParameterCount() == arguments.length) {
                method.setAccessible(true);
                try {
                    return method.invoke(requests, arguments);
                } catch (InvocationTargetException raised) {
                    throw new IllegalStateException(raised.getCause());
                }
            }
        }
        throw new IllegalStateException("InFlightRequests has no " + name);
    }

    private static Class<?> box(Class<?> type) {
        return type == long.class ? Long.class : type == boolean.class ? Boolean.class : type;
    }

    private static Class<?> kafkas(String name) {
        try {
            return Class.forName(name);
        } catch (ClassNotFoundException moved) {
            throw new IllegalStateException(moved);
        }
    }
}
