package kafkaoracle.server_assignors;

import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import kafkaoracle.reflection.Members;
import kafkaoracle.rule.Rule;
import org.apache.kafka.common.Uuid;

/** The topics of a question: their ids by name, and what the metadata of the group have of them. */
final class AskedTopics {
    /** The ids of all topics, also of deleted ones. */
    private final Map<String, Uuid> ids = new HashMap<>();
    private final Map<Uuid, String> names = new HashMap<>();
    /** The ids of topics that exist: a subscription to another name has none. */
    private final Map<String, Uuid> existing = new HashMap<>();
    private final Map<Uuid, Integer> partitions = new HashMap<>();
    private final Map<Uuid, List<?>> racks = new HashMap<>();

    AskedTopics(List<?> asked) {
        for (Object each : asked) {
            Map<?, ?> topic = (Map<?, ?>) each;
            String name = (String) topic.get("name");
            Uuid id = Uuid.fromString((String) topic.get("id"));
            if (ids.put(name, id) != null || names.put(id, name) != null) {
                throw new IllegalArgumentException("the question has two topics with the name " + name + " or the id " + id);
            }
            if (topic.get("partitions") == null) {
                continue;
            }
            existing.put(name, id);
            if (!Boolean.FALSE.equals(topic.get("described"))) {
                partitions.put(id, Rule.integer(topic.get("partitions")));
                racks.put(id, topic.get("racks") == null ? List.of() : (List<?>) topic.get("racks"));
            }
        }
    }

    Uuid id(Object name) {
        if (!ids.containsKey(name)) {
            throw new IllegalArgumentException("the question has no topic " + name);
        }
        return ids.get(name);
    }

    String name(Object id) {
        return names.get(id);
    }

    /** The id of a topic that exists, or null. */
    Uuid existing(Object name) {
        return existing.get(name);
    }

    /** A SubscribedTopicDescriber, as the coordinator makes it of the metadata. */
    Object describer(Class<?> type) {
        return Members.proxy(type, (proxy, method, arguments) -> switch (method.getName()) {
            case "numPartitions" -> partitions.getOrDefault(arguments[0], -1);
            case "racksForPartition" -> racksOf(racks.getOrDefault(arguments[0], List.of()), (int) arguments[1]);
            default -> throw new UnsupportedOperationException(method.getName());
        });
    }

    private static Set<String> racksOf(List<?> ofTopic, int partition) {
        Set<String> found = new HashSet<>();
        if (partition < ofTopic.size()) {
            for (Object rack : (List<?>) ofTopic.get(partition)) {
                found.add((String) rack);
            }
        }
        return Collections.unmodifiableSet(found);
    }
}
