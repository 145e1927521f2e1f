package kafkaoracle.sender;

import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import kafkaoracle.accumulator.SteppedClock;
import kafkaoracle.reflection.Arguments;
import kafkaoracle.reflection.Members;
import org.apache.kafka.clients.ClientRequest;
import org.apache.kafka.clients.ClientResponse;
import org.apache.kafka.clients.KafkaClient;
import org.apache.kafka.clients.RequestCompletionHandler;
import org.apache.kafka.common.Node;

/**
 * The network between a Sender and its brokers: a KafkaClient that sends nothing, and answers what the question says.
 *
 * It does what NetworkClient does, with NetworkClient's own requests in flight, which decide whether a node may be sent
 * more, which request is answered next, and in which order those of a lost connection end. One poll handles, in this
 * order: requests that want no answer, one answer of each node, lost connections, requests that took too long. A completion
 * that throws is noted, and the next one is run. A connection that was lost is back at once.
 *
 * A request for a producer id goes to a node that leads nothing.
 */
public final class SenderNetwork {
    /** A request that was sent, and has not ended yet. */
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

    /** Makes Kafka's AbstractResponse to a request; null if it is to be answered in a later poll. */
    public interface Answer {
        Object to(Sent sent) throws Exception;
    }

    public static final Node COORDINATOR = new Node(999, "coordinator", 9092);

    private static final Constructor<?> NEW_REQUEST = ClientRequest.class.getConstructors()[0];

    public final KafkaClient client;
    /** The requests that were sent, until they are removed by the rule. */
    public final List<Sent> sent = new ArrayList<>();
    /** The class names of what completions threw, until they are removed by the rule. */
    public final List<String> uncaught = new ArrayList<>();

    private final SteppedClock clock;
    private final Answer idAnswers;
    private final InFlightRequests requests;
    private final Map<Object, Sent> inFlight = new HashMap<>();
    private final Map<String, Deque<Answer>> answers = new LinkedHashMap<>();
    private final Set<String> lost = new LinkedHashSet<>();
    private int correlation;
    private Throwable fault;

    public SenderNetwork(SteppedClock clock, int requestTimeoutMs, int maxInFlight, Answer idAnswers)
        throws ReflectiveOperationException {
        this.clock = clock;
        this.idAnswers = idAnswers;
        requests = new InFlightRequests(maxInFlight, requestTimeoutMs, clock);
        client = (KafkaClient) Members.proxy(KafkaClient.class, (self, method, arguments) -> {
            try {
                return call(method, arguments);
            } catch (Throwable ours) {
                fault = fault == null ? ours : fault;
                throw new IllegalStateException(ours);
            }
        });
    }

    /** The implementation of KafkaClient. */
    private Object call(Method method, Object[] arguments) throws Exception {
        switch (method.getName()) {
            case "isReady":
            case "ready":
                return requests.canSendMore(((Node) arguments[0]).idString());
            case "newClientRequest":
                return request(arguments);
            case "nextRequestHeader": // up to 0.10.1 a Sender makes its requests itself
                return method.getReturnType().getConstructor(short.class, String.class, int.class)
                    .newInstance(Members.get(arguments[0], "id"), "client", correlation);
            case "send":
                send((ClientRequest) arguments[0], (Long) arguments[1]);
                return null;
            case "poll":
                return poll();
            case "leastLoadedNode":
                return method.getReturnType() == Node.class ? COORDINATOR
                    : method.getReturnType().getConstructor(Node.class, boolean.class).newInstance(COORDINATOR, true);
            case "inFlightRequestCount":
                return arguments == null ? requests.count() : requests.count((String) arguments[0]);
            case "active":
                return true;
            case "connectionDelay":
            case "pollDelayMs":
                return 0L;
            case "wakeup":
                return null;
            default:
                throw new IllegalStateException("SenderNetwork does not implement KafkaClient." + method.getName());
        }
    }

    /** Fails if this network failed, though that came up through Kafka, as if Kafka had thrown it. */
    public void check() {
        if (fault != null) {
            throw new IllegalStateException("the network before the Sender failed: " + fault, fault);
        }
    }

    /** A ClientRequest of what newClientRequest takes: node, builder, time, whether it expects an answer, timeout, callback. */
    private ClientRequest request(Object[] given) throws Exception {
        List<Object> integers = new ArrayList<>(List.of(correlation));
        Arrays.stream(given).filter(Integer.class::isInstance).forEach(integers::add);
        return (ClientRequest) NEW_REQUEST.newInstance(new Arguments()
            .give(String.class, given[0], "client").give(int.class, integers.toArray())
            .match(NEW_REQUEST.getParameterTypes(), type -> Arrays.stream(given)
                .filter(each -> (type == long.class ? Long.class : type == boolean.class ? Boolean.class : type).isInstance(each))
                .findFirst().orElse(null)));
    }

    private void send(ClientRequest request, long now) throws Exception {
        String node = InFlightRequests.destination(request);
        boolean asksForId = node.equals(COORDINATOR.idString());
        List<Object> described = asksForId ? List.of() : ProduceRequests.describe(request);
        Sent added = new Sent(request, node, requests.add(request, now), described);
        correlation++;
        inFlight.put(added.inFlight, added);
        sent.add(added);
        if (asksForId) {
            answer(COORDINATOR.idString(), idAnswers);
        }
    }

    /** Answers the next request of this node; returns false if there is none left to answer. */
    public boolean answer(String node, Answer answer) {
        Deque<Answer> waiting = answers.computeIfAbsent(node, key -> new ArrayDeque<>());
        boolean any = waiting.size() < requests.count(node);
        if (any) {
            waiting.add(answer);
        }
        return any;
    }

    public void lose(String node) {
        lost.add(node);
    }

    public int inFlight(String node) {
        return requests.count(node);
    }

    private List<ClientResponse> poll() throws Exception {
        Map<ClientResponse, RequestCompletionHandler> ended = new LinkedHashMap<>();
        for (Sent each : new ArrayList<>(sent)) {
            if (!each.request.expectResponse() && inFlight.containsKey(each.inFlight)) {
                complete(requests.completeLastSent(each.node), null, ended);
            }
        }
        for (Map.Entry<String, Deque<Answer>> waiting : answers.entrySet()) {
            Answer next = waiting.getValue().peek();
            Object body = next == null ? null : next.to(inFlight.get(requests.oldest(waiting.getKey())));
            if (body != null) {
                waiting.getValue().remove();
                complete(requests.completeNext(waiting.getKey()), body, ended);
            }
        }
        for (String node : lost) {
            disconnect(node, false, ended);
        }
        lost.clear();
        for (Object node : requests.timedOut()) {
            disconnect((String) node, true, ended);
        }
        for (Map.Entry<ClientResponse, RequestCompletionHandler> each : ended.entrySet()) {
            try {
                if (each.getValue() != null) {
                    each.getValue().onComplete(each.getKey());
                }
            } catch (RuntimeException thrown) {
                uncaught.add(thrown.getClass().getSimpleName());
            }
        }
        return new ArrayList<>(ended.keySet());
    }

    private void complete(Object request, Object body, Map<ClientResponse, RequestCompletionHandler> ended) throws Exception {
        RequestCompletionHandler handler = inFlight.remove(request).request.callback();
        ended.put(requests.completed(request, body), handler);
    }

    private void disconnect(String node, boolean isLate, Map<ClientResponse, RequestCompletionHandler> ended) throws Exception {
        answers.remove(node);
        for (Object request : requests.clearAll(node)) {
            RequestCompletionHandler handler = inFlight.remove(request).request.callback();
            ended.put(requests.disconnected(request, isLate), handler);
        }
    }
}
