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
import kafkaoracle.reflection.Members;
import kafkaoracle.rule.Rule;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicPartition;

/**
 * A cluster as a producer's classes take it: a Cluster, or since 3.6.2 a MetadataSnapshot, which orders partitions as a HashMap
 * does. In 3.6.1 and 3.7.0 the snapshot is a MetadataCache, which is not public, and its whole Metadata is passed.
 */
public final class ClusterView {
    public final Cluster cluster;
    /** The MetadataSnapshot or MetadataCache; null where a Cluster is passed. */
    public final Object snapshot;
    /** What the classes take: the Cluster, the snapshot, or the Metadata that holds it. */
    public final Object passed;
    private final Map<Integer, Node> nodes;

    /**
     * {@code type} is Cluster, or that of the release's snapshot; {@code epochs} are the leader epochs, null or missing where there
     * is none.
     */
    public ClusterView(Object described, List<?> epochs, Collection<String> topics, Class<?> type) throws Exception {
        nodes = new HashMap<>(Clusters.nodes(described));
        if (type == Cluster.class) {
            snapshot = null;
            cluster = Clusters.from(described, topics);
            passed = cluster;
        } else {
            snapshot = snapshot(Clusters.list(described, "partitions"), epochs, topics, type);
            cluster = (Cluster) Members.call(snapshot, "cluster");
            passed = snapshot;
        }
    }

    private ClusterView(ClusterView view, Object metadata) {
        nodes = view.nodes;
        snapshot = view.snapshot;
        cluster = view.cluster;
        passed = metadata;
    }

    /** The same view, passed as the Metadata that holds it. */
    public ClusterView heldBy(Object metadata) {
        return new ClusterView(this, metadata);
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
        Constructor<?> constructor = type.getDeclaredConstructor(
            String.class, Map.class, Collection.class, Set.class, Set.class, Set.class, Node.class, Map.class);
        constructor.setAccessible(true);
        return constructor.newInstance("cluster", nodes, described, empty, empty, empty, null, Collections.emptyMap());
    }
}
