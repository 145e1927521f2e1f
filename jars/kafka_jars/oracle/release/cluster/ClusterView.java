package kafkaoracle.cluster;

import java.lang.reflect.Constructor;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import kafkaoracle.rule.Rule;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicPartition;

/**
 * A cluster as a producer's classes take it: a Cluster, or since 3.6.1 a MetadataSnapshot, which orders partitions as a
 * HashMap does.
 */
public final class ClusterView {
    public final Cluster cluster;
    /** The Cluster or the MetadataSnapshot. */
    public final Object passed;
    private final Map<Integer, Node> nodes;

    /** {@code type} is what the release takes; {@code epochs} are the leader epochs, null or missing where there is none. */
    public ClusterView(Object described, List<?> epochs, Collection<String> topics, Class<?> type) throws Exception {
        nodes = new HashMap<>(Clusters.nodes(described));
        if (type == Cluster.class) {
            cluster = Clusters.from(described, topics);
            passed = cluster;
        } else {
            passed = snapshot(Clusters.list(described, "partitions"), epochs, topics, type);
            cluster = (Cluster) type.getMethod("cluster").invoke(passed);
        }
    }

    /** The node of this id, also if the cluster no longer has it. */
    public Node node(int id) {
        return nodes.getOrDefault(id, new Node(id, "gone", 9092));
    }

    private Object snapshot(List<Map<?, ?>> partitions, List<?> epochs, Collection<String> topics, Class<?> type) throws Exception {
        Constructor<?> metadata = Class.forName(
            "org.apache.kafka.common.requests.MetadataResponse$PartitionMetadata").getConstructors()[0];
        Object none = metadata.getParameterTypes()[0].getField("NONE").get(null);
        List<Object> described = new ArrayList<>();
        for (String topic : topics) {
            for (int place = 0; place < partitions.size(); place++) {
                Map<?, ?> partition = partitions.get(place);
                Object epoch = place < epochs.size() ? epochs.get(place) : null;
                described.add(metadata.newInstance(none, new TopicPartition(topic, Rule.integer(partition.get("id"))),
                    Optional.ofNullable(partition.get("leader")), Optional.ofNullable(epoch), List.of(), List.of(), List.of()));
            }
        }
        Set<String> empty = Collections.emptySet();
        return type.getConstructor(String.class, Map.class, Collection.class, Set.class, Set.class, Set.class, Node.class, Map.class)
            .newInstance("cluster", nodes, described, empty, empty, empty, null, Collections.emptyMap());
    }
}
