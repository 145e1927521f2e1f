package kafkaoracle.assignors;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import kafkaoracle.cluster.Clusters;
import kafkaoracle.rule.Rule;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.PartitionInfo;

/** The cluster that a question describes: its topics, and one broker in each rack, besides one without a rack. */
final class AskedCluster {
    private final Map<String, Node> brokers = new LinkedHashMap<>();

    private AskedCluster() {
        brokers.put(null, new Node(0, "broker0", 9092));
    }

    static Cluster of(Map<String, Object> question) throws ReflectiveOperationException {
        AskedCluster asked = new AskedCluster();
        Map<?, ?> racks = question.get("racks") == null ? Map.of() : (Map<?, ?>) question.get("racks");
        List<PartitionInfo> partitions = new ArrayList<>();
        for (Map.Entry<?, ?> topic : ((Map<?, ?>) question.get("topics")).entrySet()) {
            List<?> ofTopic = (List<?>) racks.get(topic.getKey());
            for (int partition = 0; partition < Rule.integer(topic.getValue()); partition++) {
                partitions.add(asked.partition((String) topic.getKey(), partition, ofTopic == null ? null : ofTopic.get(partition)));
            }
        }
        return Clusters.of(asked.brokers.values(), partitions);
    }

    private PartitionInfo partition(String topic, int number, Object racks) {
        List<Node> replicas = new ArrayList<>();
        for (Object rack : racks == null || ((List<?>) racks).isEmpty() ? Collections.singletonList(null) : (List<?>) racks) {
            replicas.add(brokers.computeIfAbsent((String) rack, in -> new Node(brokers.size(), "broker" + brokers.size(), 9092, in)));
        }
        Node[] nodes = replicas.toArray(new Node[0]);
        return new PartitionInfo(topic, number, nodes[0], nodes, nodes);
    }
}
