package kafkaoracle.partition;

import java.util.Arrays;
import kafkaoracle.accumulator.SteppedClock;
import kafkaoracle.reflection.Members;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;

/** What a broker gives each of its partitions: Kafka's log manager, metadata and purgatories, and the kit's controller. */
final class PartitionParts {
    /** The id of the topic, which a partition gets since 3.8.0. */
    static final Uuid TOPIC_ID = new Uuid(1, 1);
    private static final String STATUS_LEVEL = "log4j2.StatusLogger.level";

    final SteppedClock clock = new SteppedClock();
    final LogFolder logs;
    final ClusterMetadata metadata;
    final AlterRequests requests;
    final Purgatories purgatories;

    PartitionParts() throws Exception {
        System.setProperty(STATUS_LEVEL, "OFF"); // since 4.1.0 a Partition asks log4j for loggers, of which there are none
        logs = new LogFolder(type("LogManager"), clock.time);
        metadata = new ClusterMetadata();
        requests = new AlterRequests(type("AlterPartitionManager"));
        purgatories = new Purgatories();
    }

    /** The type of what Partition takes: some releases have two classes of this name. */
    private static Class<?> type(String name) throws ClassNotFoundException {
        return Arrays.stream(Members.constructor(Class.forName("kafka.cluster.Partition")).getParameterTypes())
            .filter(type -> type.getSimpleName().equals(name)).findFirst().orElseThrow();
    }

    /** The argument for a parameter of Partition's constructor, or null if any value does. */
    Object part(Class<?> type, TopicPartition topicPartition, long brokerEpoch) throws Exception {
        switch (type.getSimpleName()) {
            case "LogManager":
                return logs.manager;
            case "MetadataCache":
                return metadata.cache;
            case "AlterPartitionManager":
                return requests.manager;
            case "DelayedOperations":
                return purgatories.operations(topicPartition);
            case "Option":
                return Members.method(type, "apply", 1).invoke(null, TOPIC_ID);
            case "Function0":
                return Scala.function(type, ignored -> brokerEpoch);
            default:
                return null;
        }
    }
}
