package kafkaoracle.partition;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import kafkaoracle.reflection.Members;
import org.apache.kafka.common.protocol.Errors;

/** An AlterPartitionManager that keeps the requests of a partition until a step answers them. */
final class AlterRequests {
    private record Request(Object asked, CompletableFuture<Object> answer) {
    }

    final Object manager;
    private final Deque<Request> waiting = new ArrayDeque<>();
    private final List<Object> sent = new ArrayList<>();

    AlterRequests(Class<?> type) {
        manager = Members.proxy(type, (self, method, arguments) -> {
            if (!method.getName().equals("submit")) {
                return Defaults.of(self, method);
            }
            Request request = new Request(arguments[1], new CompletableFuture<>());
            waiting.add(request);
            sent.add(described(request.asked));
            return request.answer;
        });
    }

    void begin() {
        waiting.clear();
        sent.clear();
    }

    /** The requests since the last call: in-sync replicas with their broker epochs, and the partition epoch. */
    List<Object> takeSent() {
        List<Object> taken = List.copyOf(sent);
        sent.clear();
        return taken;
    }

    /** Answers the oldest request; returns whether there was one. */
    boolean answer(String error, long partitionEpoch) throws ReflectiveOperationException {
        Request request = waiting.poll();
        if (request == null) {
            return false;
        }
        if (error.isEmpty()) {
            request.answer.complete(Members.call(request.asked, "withPartitionEpoch", (int) partitionEpoch));
        } else {
            request.answer.completeExceptionally(Errors.valueOf(error).exception());
        }
        return true;
    }

    private static Map<String, Object> described(Object leaderAndIsr) throws ReflectiveOperationException {
        Map<String, Object> fields = new HashMap<>();
        List<List<Object>> replicas = new ArrayList<>();
        boolean epochs = Members.has(leaderAndIsr, "isrWithBrokerEpoch");
        for (Object each : Scala.elements(Members.call(leaderAndIsr, epochs ? "isrWithBrokerEpoch" : "isr"))) {
            replicas.add(epochs ? List.of(Members.call(each, "brokerId"), Members.call(each, "brokerEpoch")) : List.of(each));
        }
        replicas.sort(Comparator.comparing(replica -> (Integer) replica.get(0)));
        fields.put("in_sync", replicas);
        fields.put("partition_epoch", Members.call(leaderAndIsr, "partitionEpoch"));
        fields.put("leader_epoch", Members.call(leaderAndIsr, "leaderEpoch"));
        return fields;
    }
}
