package kafkaoracle.server_assignors;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import kafkaoracle.reflection.Members;
import kafkaoracle.rule.Rule;

/** One of the group coordinator's assignors, called as TargetAssignmentBuilder does it; a new one for each question. */
public abstract class ServerAssignorRule extends Rule {
    private final String name;

    /** {@code name} is the simple name of the assignor's class. */
    protected ServerAssignorRule(String name) {
        this.name = "org.apache.kafka.coordinator.group.assignor." + name;
    }

    @Override
    protected final Map<String, Object> answer(Map<String, Object> question) throws Exception {
        AskedTopics topics = new AskedTopics((List<?>) question.get("topics"));
        Object group = AskedGroup.of(question, topics);
        Object assignor = Members.constructor(Class.forName(name)).newInstance();
        Method assign = Members.method(assignor.getClass(), "assign", 2);
        Object describer = topics.describer(assign.getParameterTypes()[1]);
        Object assigned = kafka(() -> assign.invoke(assignor, group, describer));
        Map<?, ?> byMember = (Map<?, ?>) Members.read(assigned, "members");
        Map<String, Object> found = new HashMap<>();
        for (Object member : (List<?>) question.get("members")) {
            String id = (String) ((Map<?, ?>) member).get("id");
            found.put(id, byMember.containsKey(id) ? partitions(byMember.get(id), topics) : List.of());
        }
        return Map.of("assignment", found);
    }

    /** The partitions of a member, sorted: the assignors return sets. */
    private static List<List<Object>> partitions(Object assigned, AskedTopics topics) throws ReflectiveOperationException {
        String name = Members.has(assigned, "partitions") ? "partitions" : "targetPartitions";
        List<List<Object>> found = new ArrayList<>();
        for (Map.Entry<?, ?> topic : ((Map<?, ?>) Members.call(assigned, name)).entrySet()) {
            for (Object number : (Set<?>) topic.getValue()) {
                found.add(List.of(topics.name(topic.getKey()), number));
            }
        }
        found.sort(Comparator.comparing((List<Object> each) -> (String) each.get(0)).thenComparing(each -> (Integer) each.get(1)));
        return found;
    }
}
