package kafkaoracle.round_robin_partitioner;

import java.util.Map;
import kafkaoracle.partitioner.PartitionerRule;
import org.apache.kafka.clients.producer.Partitioner;
import org.apache.kafka.clients.producer.RoundRobinPartitioner;

/** RoundRobinPartitioner, from 2.4.0 on. What 3.9.2 keeps for the thread is a field of each partitioner, so it is new too. */
public final class RoundRobinRule extends PartitionerRule {

    public RoundRobinRule(String release) {
    }

    @Override
    protected Partitioner fresh(Map<String, Object> question) {
        return new RoundRobinPartitioner();
    }
}
