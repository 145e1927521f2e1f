package kafkaoracle.assignors;

import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import kafkaoracle.reflection.Members;
import kafkaoracle.rule.Rule;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.TopicPartition;

/**
 * One of the consumer's assignors, a new one for each question, called as the leader of a group does it: with the cluster
 * and the subscriptions of all members, in a HashMap by member id.
 */
public abstract class AssignorRule extends Rule {
    private final Constructor<?> constructor;
    private final Method assign;

    /** {@code name} is the simple name of the assignor's class. */
    protected AssignorRule(String name) throws ReflectiveOperationException {
        Class<?> type = Class.forName("org.apache.kafka.clients.consumer." + name);
        constructor = type.getConstructor();
        assign = type.getMethod("assign", Cluster.class, AskedSubscriptions.groupType());
    }

    @Override
    protected final Map<String, Object> answer(Map<String, Object> question) throws Exception {
        Cluster cluster = AskedCluster.of(question);
        Map<String, Object> subscriptions = new HashMap<>();
        for (Object each : (List<?>) question.get("members")) {
            Map<?, ?> member = (Map<?, ?>) each;
            if (subscriptions.put((String) member.get("id"), AskedSubscriptions.of(member, constructor.newInstance())) != null) {
                throw new IllegalArgumentException("the question has two members with the id " + member.get("id"));
            }
        }
        Object group = AskedSubscriptions.group(subscriptions);
        Object assignor = constructor.newInstance();
        return Map.of("assignment", assignment(kafka(() -> assign.invoke(assignor, cluster, group))));
    }

    private static Map<String, Object> assignment(Object assigned) throws ReflectiveOperationException {
        Object byMember = assigned instanceof Map<?, ?> ? assigned : Members.call(assigned, "groupAssignment");
        Map<String, Object> found = new HashMap<>();
        for (Map.Entry<?, ?> entry : ((Map<?, ?>) byMember).entrySet()) {
            List<List<Object>> partitions = new ArrayList<>();
            for (Object each : (Collection<?>) Members.call(entry.getValue(), "partitions")) {
                TopicPartition partition = (TopicPartition) each;
                partitions.add(List.of(partition.topic(), partition.partition()));
            }
            found.put((String) entry.getKey(), partitions);
        }
        return found;
    }
}
