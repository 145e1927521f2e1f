package kafkaoracle.zookeeper_leader_election;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import kafkaoracle.reflection.Members;
import kafkaoracle.rule.Rule;

/** PartitionLeaderElectionAlgorithms, and Election in releases where it takes a LeaderAndIsr. */
public final class ZookeeperLeaderElectionRule extends Rule {
    private static final String ALGORITHMS = "kafka.controller.PartitionLeaderElectionAlgorithms$";
    private static final Map<String, String> METHODS = Map.of(
        "offline", "offlinePartitionLeaderElection", "reassign", "reassignPartitionLeaderElection",
        "preferred", "preferredReplicaPartitionLeaderElection", "shutdown", "controlledShutdownPartitionLeaderElection");

    // Made with the first question: the jars of the broker come after the rule.
    private Object algorithms;
    private Elections elections;

    public ZookeeperLeaderElectionRule(String release) {
    }

    @Override
    protected Map<String, Object> answer(Map<String, Object> question) throws Exception {
        if (algorithms == null) {
            algorithms = Members.getStatic(Class.forName(ALGORITHMS), "MODULE$");
            elections = new Elections();
        }
        String election = (String) question.get("election");
        Object context = elections.context(question);
        List<?> assignment = (List<?>) question.get("assignment");
        Object replicas = ScalaValues.list(assignment);
        Object isr = ScalaValues.list((List<?>) question.get("isr"));
        Object live = ScalaValues.set((List<?>) question.get("live"));
        long before = elections.uncleanElections(context);
        Object leader = switch (election) {
            case "offline" -> offline(replicas, isr, live, ScalaValues.flag(question, "unclean", false), context);
            case "shutdown" -> kafka(algorithms, METHODS.get(election), replicas, isr, live,
                ScalaValues.set(ScalaValues.listIn(question, "shutting_down")));
            default -> kafka(algorithms, METHODS.get(election), replicas, isr, live);
        };
        Map<String, Object> answer = new LinkedHashMap<>();
        answer.put("leader", ScalaValues.value(leader));
        if (countsElections()) {
            answer.put("counted", (int) (elections.uncleanElections(context) - before));
        }
        if (elections.exist()) {
            answer.put("election", elections.result(question, context));
        }
        return answer;
    }

    private boolean countsElections() {
        return Members.method(algorithms.getClass(), METHODS.get("offline")).getParameterCount() == 5;
    }

    private Object offline(Object replicas, Object isr, Object live, boolean unclean, Object context) throws Exception {
        return countsElections() ? kafka(algorithms, METHODS.get("offline"), replicas, isr, live, unclean, context)
            : kafka(algorithms, METHODS.get("offline"), replicas, isr, live, unclean);
    }
}
