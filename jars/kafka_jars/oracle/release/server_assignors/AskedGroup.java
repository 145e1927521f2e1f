package kafkaoracle.server_assignors;

import java.lang.reflect.Constructor;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import kafkaoracle.reflection.Members;
import kafkaoracle.rule.Rule;
import org.apache.kafka.common.Uuid;

/**
 * A group as the coordinator passes it to an assignor: AssignmentSpec up to 3.7.x; since 3.8.0 GroupSpecImpl, with the subscription
 * type and the members by partition, in the package "consumer", since 3.9.0 in "modern".
 */
final class AskedGroup {
    private static final String GROUP = "org.apache.kafka.coordinator.group.";
    private static final Class<?> GROUP_SPEC =
        Members.typeOrNull(GROUP + "modern.GroupSpecImpl", GROUP + "consumer.GroupSpecImpl");

    private AskedGroup() {
    }

    static Object of(Map<String, Object> question, AskedTopics topics) throws ReflectiveOperationException {
        Map<String, Object> members = new HashMap<>();
        Map<Uuid, Map<Integer, String>> owners = new HashMap<>();
        Set<Set<String>> subscriptions = new HashSet<>();
        for (Object each : (List<?>) question.get("members")) {
            Map<?, ?> member = (Map<?, ?>) each;
            String id = (String) member.get("id");
            List<String> names = new ArrayList<>();
            for (Object name : list(member.get("topics"))) {
                names.add((String) name);
            }
            subscriptions.add(new HashSet<>(names));
            Map<Uuid, Set<Integer>> assigned = assigned(list(member.get("assigned")), topics);
            assigned.forEach((topic, numbers) -> numbers.forEach(
                number -> owners.computeIfAbsent(topic, absent -> new HashMap<>()).put(number, id)));
            if (members.put(id, member(member, SubscribedIds.of(names, topics, GROUP_SPEC != null), assigned)) != null) {
                throw new IllegalArgumentException("the question has two members with the id " + id);
            }
        }
        Map<String, Object> unmodifiable = Collections.unmodifiableMap(members);
        if (GROUP_SPEC == null) {
            return Members.constructor(Class.forName(GROUP + "assignor.AssignmentSpec")).newInstance(unmodifiable);
        }
        Object type = type(question.get("subscription"), subscriptions.size() <= 1);
        Constructor<?> constructor = Members.constructor(GROUP_SPEC);
        return constructor.getParameterCount() == 3 ? constructor.newInstance(unmodifiable, type, owners)
            : constructor.newInstance(unmodifiable, type, owners, Optional.empty());
    }

    /** The last target assignment of a member, as it is read from a record. */
    private static Map<Uuid, Set<Integer>> assigned(List<?> partitions, AskedTopics topics) {
        Map<Uuid, List<Integer>> numbers = new HashMap<>();
        List<Uuid> order = new ArrayList<>();
        for (Object each : partitions) {
            List<?> partition = (List<?>) each;
            Uuid topic = topics.id(partition.get(0));
            if (!numbers.containsKey(topic)) {
                numbers.put(topic, new ArrayList<>());
                order.add(topic);
            }
            if (numbers.get(topic).contains(Rule.integer(partition.get(1)))) {
                throw new IllegalArgumentException("the question assigns a partition twice to the same member");
            }
            numbers.get(topic).add(Rule.integer(partition.get(1)));
        }
        Map<Uuid, Set<Integer>> assigned = new HashMap<>();
        for (Uuid topic : order) {
            assigned.put(topic, new HashSet<>(numbers.get(topic)));
        }
        return assigned;
    }

    private static Object member(Map<?, ?> member, Set<Uuid> topics, Map<Uuid, Set<Integer>> assigned)
            throws ReflectiveOperationException {
        Optional<Object> instance = Optional.ofNullable(member.get("instance"));
        Optional<Object> rack = Optional.ofNullable(member.get("rack"));
        if (GROUP_SPEC == null) {
            return Members.constructor(Class.forName(GROUP + "assignor.AssignmentMemberSpec"))
                .newInstance(instance, rack, topics, Collections.unmodifiableMap(assigned));
        }
        Object target = Members.constructor(Members.type(GROUP + "modern.Assignment", GROUP + "consumer.Assignment"))
            .newInstance(assigned);
        Constructor<?> constructor = Members.constructor(Members.type(
            GROUP + "modern.MemberSubscriptionAndAssignmentImpl", GROUP + "consumer.MemberSubscriptionAndAssignmentImpl"));
        return constructor.getParameterCount() == 3 ? constructor.newInstance(rack, topics, target)
            : constructor.newInstance(rack, instance, topics, target);
    }

    private static Object type(Object asked, boolean alike) throws ReflectiveOperationException {
        boolean homogeneous = asked == null ? alike : asked.equals("homogeneous");
        Class<?> type = Class.forName(GROUP + "api.assignor.SubscriptionType");
        return Members.getStatic(type, homogeneous ? "HOMOGENEOUS" : "HETEROGENEOUS");
    }

    private static List<?> list(Object field) {
        return field == null ? List.of() : (List<?>) field;
    }
}
