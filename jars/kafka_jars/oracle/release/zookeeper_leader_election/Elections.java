package kafkaoracle.zookeeper_leader_election;

import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import kafkaoracle.reflection.Arguments;
import kafkaoracle.reflection.Members;
import kafkaoracle.rule.Rule;
import org.apache.kafka.common.TopicPartition;

/** The controller's context of a question, and what Election makes of it. */
final class Elections {
    private static final TopicPartition PARTITION = new TopicPartition("t", 0);
    private static final Map<String, String> METHODS = Map.of("offline", "leaderForOffline", "reassign", "leaderForReassign",
        "preferred", "leaderForPreferredReplica", "shutdown", "leaderForControlledShutdown");

    private final Class<?> contextType = Class.forName("kafka.controller.ControllerContext");
    private final Class<?> assignmentType = Members.typeOrNull("kafka.controller.ReplicaAssignment");
    private final Class<?> recoveryType = Members.typeOrNull("org.apache.kafka.metadata.LeaderRecoveryState");
    private final Constructor<?> broker = Arrays.stream(Class.forName("kafka.cluster.Broker").getConstructors())
        .filter(each -> each.getParameterTypes()[0] == int.class && each.getParameterTypes()[1].getName().startsWith("scala."))
        .findFirst().orElseThrow();
    private Object empty;

    Elections() throws ReflectiveOperationException {
    }

    boolean exist() {
        return assignmentType != null;
    }

    /** A context is made once: its metrics are registered in the JVM. */
    Object context(Map<String, Object> question) throws Exception {
        if (empty == null) {
            empty = Members.constructor(contextType).newInstance();
        }
        if (!exist()) {
            return empty;
        }
        List<Object> removing = new ArrayList<>(ScalaValues.listIn(question, "removing"));
        Object assignment = Members.constructor(assignmentType).newInstance(
            ScalaValues.list((List<?>) question.get("assignment")), ScalaValues.list(List.of()), ScalaValues.list(removing));
        Members.call(empty, "updatePartitionFullReplicaAssignment", PARTITION, assignment);
        List<Object> brokers = new ArrayList<>();
        for (Object id : (List<?>) question.get("live")) {
            brokers.add(broker(Rule.integer(id)));
        }
        Members.call(empty, Members.has(empty, "setLiveBrokers") ? "setLiveBrokers" : "setLiveBrokerAndEpochs", ScalaValues.epochs(brokers));
        Object shuttingDown = Members.call(empty, "shuttingDownBrokerIds");
        Members.call(shuttingDown, "clear");
        for (Object id : ScalaValues.listIn(question, "shutting_down")) {
            Members.call(shuttingDown, "add", Rule.integer(id));
        }
        return empty;
    }

    private Object broker(int id) throws Exception {
        Arguments arguments = new Arguments().give(int.class, id);
        return broker.newInstance(arguments.match(broker.getParameterTypes(), type -> switch (type.getSimpleName()) {
            case "Seq" -> ScalaValues.list(List.of());
            case "Option" -> ScalaValues.option(null);
            default -> null;
        }));
    }

    long uncleanElections(Object context) throws ReflectiveOperationException {
        return (long) Members.call(Members.call(Members.call(context, "stats"), "uncleanLeaderElectionRate"), "count");
    }

    Map<String, Object> result(Map<String, Object> question, Object context) throws Exception {
        String kind = (String) question.get("election");
        Object known = leaderAndIsr(question);
        Object module = ScalaValues.module("kafka.controller.Election");
        Method method = Arrays.stream(module.getClass().getMethods())
            .filter(each -> each.getName().equals(METHODS.get(kind)) && each.getParameterTypes()[0] == contextType)
            .findFirst().orElseThrow();
        boolean offline = kind.equals("offline");
        Object state = ScalaValues.flag(question, "known", true) ? known : null;
        Object asked = offline ? ScalaValues.tuple(PARTITION, ScalaValues.option(state), ScalaValues.flag(question, "unclean", false))
            : ScalaValues.tuple(PARTITION, known);
        Object partitions = ScalaValues.list(List.of(asked));
        Object results = method.getParameterCount() == 2 ? Rule.kafka(() -> method.invoke(module, context, partitions))
            : Rule.kafka(() -> method.invoke(module, context, ScalaValues.flag(question, "recovery_supported", true), partitions));
        Object result = ScalaValues.values(results).get(0);
        Map<String, Object> answer = new LinkedHashMap<>();
        Object elected = ScalaValues.value(Members.call(result, "leaderAndIsr"));
        answer.put("state", elected == null ? null : state(elected));
        answer.put("replicas", ScalaValues.values(Members.call(result, "liveReplicas")));
        return answer;
    }

    private Map<String, Object> state(Object leaderAndIsr) throws ReflectiveOperationException {
        Map<String, Object> state = new LinkedHashMap<>();
        state.put("leader", Members.call(leaderAndIsr, "leader"));
        state.put("isr", ScalaValues.values(Members.call(leaderAndIsr, "isr")));
        state.put("leader_epoch", Members.call(leaderAndIsr, "leaderEpoch"));
        String epoch = Members.has(leaderAndIsr, "partitionEpoch") ? "partitionEpoch" : "zkVersion";
        state.put("version", Members.call(leaderAndIsr, epoch));
        if (recovers()) {
            state.put("recovery", Members.call(leaderAndIsr, "leaderRecoveryState").toString().toLowerCase(Locale.ROOT));
        }
        return state;
    }

    private boolean recovers() throws ReflectiveOperationException {
        return Members.method(Class.forName("kafka.api.LeaderAndIsr"), "leaderRecoveryState") != null;
    }

    @SuppressWarnings({"unchecked", "rawtypes"})
    private Object leaderAndIsr(Map<String, Object> question) throws Exception {
        Object module = ScalaValues.module("kafka.api.LeaderAndIsr");
        Method method = Arrays.stream(module.getClass().getMethods())
            .filter(each -> each.getName().equals("apply") && each.getParameterCount() > 3)
            .filter(each -> each.getParameterTypes()[2].getSimpleName().equals("List")).findFirst().orElseThrow();
        Arguments arguments = new Arguments()
            .give(int.class, (int) Rule.number(question, "leader", -1), (int) Rule.number(question, "leader_epoch", 0),
                (int) Rule.number(question, "version", 0));
        if (recovers()) {
            String recovery = ((String) question.getOrDefault("recovery", "recovered")).toUpperCase(Locale.ROOT);
            arguments.give(recoveryType, Enum.valueOf((Class) recoveryType, recovery));
        }
        return method.invoke(module, arguments.match(method.getParameterTypes(), type -> ScalaValues.list((List<?>) question.get("isr"))));
    }
}
