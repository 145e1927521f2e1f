package kafkaoracle.cluster;

import java.lang.reflect.Constructor;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import kafkaoracle.rule.Rule;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.PartitionInfo;

/** Kafka's own Cluster, as the question describes it; every topic has the same partitions. */
public final class Clusters {
    private static final Node[] NONE = new Node[0];

    private Clusters() {
    }

    public static Cluster from(Object described, Collection<String> topics) throws ReflectiveOperationException {
        Map<Integer, Node> nodes = nodes(described);
        List<PartitionInfo> partitions = new ArrayList<>();
        for (String topic : topics) {
            for (Map<?, ?> partition : list(described, "partitions")) {
                Object leader = partition.get("leader");
                Node node = leader == null ? null : nodes.get(Rule.integer(leader));
                if (leader != null && node == null) {
                    throw new IllegalArgumentException("the question's cluster has no node " + leader);
                }
                partitions.add(new PartitionInfo(topic, Rule.integer(partition.get("id")), node, NONE, NONE));
            }
        }
        return of(nodes.values(), partitions);
    }

    /** The cluster's nodes by id, in the question's order. */
    static Map<Integer, Node> nodes(Object described) {
        Map<Integer, Node> nodes = new LinkedHashMap<>();
        for (Map<?, ?> node : list(described, "nodes")) {
            int id = Rule.integer(node.get("id"));
            nodes.put(id, new Node(id, "node" + id, 9092, (String) node.get("rack")));
        }
        return nodes;
    }

    /** Up to 0.10.0.1 the constructor takes no cluster id and no internal topics. */
    public static Cluster of(Collection<Node> nodes, List<PartitionInfo> partitions) throws ReflectiveOperationException {
        Set<String> none = Collections.emptySet();
        try {
            Constructor<Cluster> byId =
                Cluster.class.getConstructor(String.class, Collection.class, Collection.class, Set.class, Set.class);
            return byId.newInstance("cluster", nodes, partitions, none, none);
        } catch (NoSuchMethodException older) {
            return Cluster.class.getConstructor(Collection.class, Collection.class, Set.class).newInstance(nodes, partitions, none);
        }
    }

    @SuppressWarnings("unchecked")
    static List<Map<?, ?>> list(Object described, String field) {
        return (List<Map<?, ?>>) ((Map<?, ?>) described).get(field);
    }
}
