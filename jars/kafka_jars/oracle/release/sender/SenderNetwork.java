package kafkaoracle.sender;

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
import kafkaoracle.accumulator.AccumulatorAccess;
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
public final class SenderNetwork {
    /** A request that was sent, and not ended yet. */
    public static final class Sent {
        public final ClientRequest request;
        public final String node;
        public final List<Object> described;
        private final Object inFlight;

        Sent(ClientRequest request, String node, Object inFlight, List<Object> described) {
            this.request = request;
            this.node = node;
            this.inFlight = inFlight;
            this.described = described;
        }
    }

    /** What answers a request: Kafka's own AbstractResponse. */
    public interface Answer {
        Object to(Sent sent) throws Exception;
    }

    public static final Node COORDINATOR = new Node(999, "coordinator", 9092);

    private static final Class<?> IN_FLIGHT = kafkas("org.apache.kafka.clients.InFlightRequests");
    // To 0.10.1 requests are in flight as they are.
    private static final Class<?> ONE_IN_FLIGHT = optional("org.apache.kafka.clients.NetworkClient$InFlightRequest");
    private static final Constructor<?> NEW_IN_FLIGHT = ONE_IN_FLIGHT == null ? null
        : Arrays.stream(ONE_IN_FLIGHT.getDeclaredConstructors()).max(Comparator.comparing(Constructor::getParameterCount)).orElseThrow();
    private static final Constructor<?> NEW_REQUEST = ClientRequest.class.getConstructors()[0];
    private static final Object SENT = ONE_IN_FLIGHT == null ? null : AccumulatorAccess.proxy(
        AccumulatorAccess.field(ONE_IN_FLIGHT, "send").getType(), (self, method, arguments) -> method.getName().equals("completed") ? (Object) true : null);

    public final KafkaClient client;
    public final List<Sent> sent = new ArrayList<>();
    public final List<String> uncaught = new ArrayList<>();

    static {
        if (NEW_IN_FLIGHT != null) {
            NEW_IN_FLIGHT.setAccessible(true);
        }
    }

    private final AccumulatorAccess clock;
    private final Answer idAnswers;
    private final Object requests;
    private final Map<Object, Sent> bySending = new HashMap<>();
    private final Map<String, Deque<Answer>> answers = new LinkedHashMap<>();
    private final Set<String> lost = new LinkedHashSet<>();
    private int numbered;
    private Throwable fault;

    public SenderNetwork(AccumulatorAccess clock, int maxInFlight, Answer idAnswers) throws Exception {
        this.clock = clock;
        this.idAnswers = idAnswers;
        Constructor<?> made = IN_FLIGHT.getDeclaredConstructor(int.class);
        made.setAccessible(true);
        requests = made.newInstance(maxInFlight);
        client = (KafkaClient) AccumulatorAccess.proxy(KafkaClient.class, (self, method, arguments) -> {
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
            case "nextRequestHeader": // to 0.10.1 a Sender makes its requests itself
                return method.getReturnType().getConstructor(short.class, String.class, int.class)
                    .newInstance(AccumulatorAccess.field(arguments[0].getClass(), "id").get(arguments[0]), "client", numbered);
            case "send":
                send((ClientRequest) arguments[0], (Long) arguments[1]);
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
    public void check() {
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

    private void send(ClientRequest request, long now) throws Exception {
        String node = destination(request);
        Object inFlight = ONE_IN_FLIGHT == null ? written(request, now) : inFlight(request, now);
        boolean asksForId = node.equals(COORDINATOR.idString());
        Sent one = new Sent(request, node, inFlight, asksForId ? List.of() : SenderAccess.onTheWire(request));
        numbered++;
        bySending.put(inFlight, one);
        sent.add(one);
        call("add", inFlight);
        if (asksForId) {
            answer(COORDINATOR.idString(), idAnswers);
        }
    }

    private static String destination(ClientRequest request) throws Exception {
        Method direct = AccumulatorAccess.declared(ClientRequest.class, "destination");
        Object on = direct != null ? request : AccumulatorAccess.declared(ClientRequest.class, "request").invoke(request);
        return (String) AccumulatorAccess.declared(on.getClass(), "destination").invoke(on);
    }

    /** The request, as if all of it was on the wire now. */
    private Object written(ClientRequest request, long now) throws Exception {
        Object send = AccumulatorAccess.declared(ClientRequest.class, "request").invoke(request);
        AccumulatorAccess.field(kafkas("org.apache.kafka.common.network.ByteBufferSend"), "remaining").set(send, 0);
        AccumulatorAccess.declared(ClientRequest.class, "setSendTimeMs").invoke(request, now);
        return request;
    }

    private Object inFlight(ClientRequest request, long now) throws Exception {
        List<Object> longs = new ArrayList<>(List.of(request.createdTimeMs(), now));
        List<Object> booleans = new ArrayList<>(List.of(request.expectResponse(), false));
        Object header = ClientRequest.class.getMethod("makeHeader", short.class).invoke(request, (short) 0);
        Class<?>[] types = NEW_IN_FLIGHT.getParameterTypes();
        Object[] arguments = new Object[types.length];
        for (int at = 0; at < types.length; at++) {
            Class<?> type = types[at];
            arguments[at] = type == long.class ? longs.remove(0)
                : type == boolean.class ? booleans.remove(0)
                : type == int.class ? AccumulatorAccess.declared(ClientRequest.class, "requestTimeoutMs").invoke(request)
                : type == String.class ? destination(request)
                : type.isInstance(header) ? header
                : type == RequestCompletionHandler.class ? request.callback()
                : type.isInstance(SENT) ? SENT
                : null;
        }
        return NEW_IN_FLIGHT.newInstance(arguments);
    }

    /** The next request of this node will be answered so; false if there is none left to answer. */
    public boolean answer(String node, Answer answer) throws Exception {
        Deque<Answer> waiting = answers.computeIfAbsent(node, key -> new ArrayDeque<>());
        boolean any = waiting.size() < (Integer) call("count", node);
        if (any) {
            waiting.add(answer);
        }
        return any;
    }

    public void lose(String node) {
        lost.add(node);
    }

    public int inFlight(String node) throws Exception {
        return (Integer) call("count", node);
    }

    private List<ClientResponse> poll() throws Exception {
        Map<ClientResponse, RequestCompletionHandler> ended = new LinkedHashMap<>();
        for (Sent one : new ArrayList<>(sent)) {
            if (!one.request.expectResponse() && bySending.containsKey(one.inFlight)) {
                complete(call("completeLastSent", one.node), null, ended);
            }
        }
        for (Map.Entry<String, Deque<Answer>> waiting : answers.entrySet()) {
            Answer next = waiting.getValue().peek();
            Object body = next == null ? null : next.to(oldest(waiting.getKey()));
            if (body != null) {
                waiting.getValue().remove();
                complete(call("completeNext", waiting.getKey()), body, ended);
            }
        }
        for (String node : lost) {
            end(node, false, ended);
        }
        lost.clear();
        for (Object node : timedOut()) {
            end((String) node, true, ended);
        }
        for (Map.Entry<ClientResponse, RequestCompletionHandler> each : ended.entrySet()) {
            try {
                if (each.getValue() != null) {
                    each.getValue().onComplete(each.getKey());
                }
            } catch (RuntimeException raised) {
                uncaught.add(raised.getClass().getSimpleName());
            }
        }
        return new ArrayList<>(ended.keySet());
    }

    private Sent oldest(String node) throws Exception {
        Map<?, ?> all = (Map<?, ?>) AccumulatorAccess.field(IN_FLIGHT, "requests").get(requests);
        return bySending.get(((Deque<?>) all.get(node)).peekLast());
    }

    private void complete(Object inFlight, Object body, Map<ClientResponse, RequestCompletionHandler> ended) throws Exception {
        RequestCompletionHandler told = bySending.remove(inFlight).request.callback();
        ended.put(ONE_IN_FLIGHT == null ? response(inFlight, false, body)
            : (ClientResponse) AccumulatorAccess.declared(ONE_IN_FLIGHT, "completed").invoke(inFlight, body, clock.now), told);
    }

    /** What 0.10 tells of a request: the answer is not read yet. */
    private ClientResponse response(Object request, boolean lost, Object body) throws Exception {
        Object struct = body == null ? null : AccumulatorAccess.declared(body.getClass(), "toStruct").invoke(body);
        return (ClientResponse) ClientResponse.class.getConstructors()[0].newInstance(request, clock.now, lost, struct);
    }

    private void end(String node, boolean late, Map<ClientResponse, RequestCompletionHandler> ended) throws Exception {
        answers.remove(node);
        for (Iterator<?> all = ((Iterable<?>) call("clearAll", node)).iterator(); all.hasNext();) {
            Object one = all.next();
            RequestCompletionHandler told = bySending.remove(one).request.callback();
            ended.put(ONE_IN_FLIGHT == null ? response(one, true, null) : disconnected(one, late), told);
        }
    }

    private ClientResponse disconnected(Object inFlight, boolean late) throws Exception {
        Method timedOut = AccumulatorAccess.declared(ONE_IN_FLIGHT, "timedOut");
        Method method = late && timedOut != null ? timedOut : AccumulatorAccess.declared(ONE_IN_FLIGHT, "disconnected");
        return (ClientResponse) (method.getParameterCount() == 1
            ? method.invoke(inFlight, clock.now) : method.invoke(inFlight, clock.now, null));
    }

    private List<?> timedOut() throws Exception {
        Method method = AccumulatorAccess.declared(IN_FLIGHT, "nodesWithTimedOutRequests");
        return method != null ? (List<?>) method.invoke(requests, clock.now)
            : (List<?>) call("getNodesWithTimedOutRequests", clock.now, clock.requestTimeout);
    }

    private Object call(String name, Object... arguments) throws Exception {
        name = name.equals("count") && ONE_IN_FLIGHT == null ? "inFlightRequestCount" : name;
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
        Class<?> found = optional(name);
        if (found == null) {
            throw new IllegalStateException("Kafka has no " + name);
        }
        return found;
    }

    private static Class<?> optional(String name) {
        try {
            return Class.forName(name);
        } catch (ClassNotFoundException other) {
            return null;
        }
    }
}
