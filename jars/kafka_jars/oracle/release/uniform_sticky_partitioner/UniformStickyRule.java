package kafkaoracle.uniform_sticky_partitioner;

import kafkaoracle.partitioner.PartitionerRule;
import org.apache.kafka.clients.producer.Partitioner;
import org.apache.kafka.clients.producer.UniformStickyPartitioner;

/** UniformStickyPartitioner, 2.4.0 to 3.9.x. */
public final class UniformStickyRule extends PartitionerRule {

    public UniformStickyRule(String release) {
    }

    @Override
    protected Partitioner fresh() {
        return new UniformStickyPartitioner();
    }
}
