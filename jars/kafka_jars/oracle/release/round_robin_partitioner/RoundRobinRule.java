package kafkaoracle.round_robin_partitioner;

import kafkaoracle.partitioner.PartitionerRule;
import org.apache.kafka.clients.producer.Partitioner;
import org.apache.kafka.clients.producer.RoundRobinPartitioner;

/** RoundRobinPartitioner, since 2.4.0. What 3.9.2 keeps for the thread is a field of each partitioner, so it is new too. */
public final class RoundRobinRule extends PartitionerRule {

    public RoundRobinRule(String release) {
    }

    @Override
    protected Partitioner fresh() {
        return new RoundRobinPartitioner();
    }
}
