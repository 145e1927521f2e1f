import java.util.Collections;
import java.util.Properties;
import org.apache.kafka.clients.admin.AdminClient;
import org.apache.kafka.common.TopicPartitionReplica;

/** Moves a replica to another folder of {@code log.dirs} of its broker. */
public class ReplicaMover {
    public static void move(String bootstrap, String topic, Integer partition, Integer broker, String folder)
            throws Exception {
        Properties properties = new Properties();
        properties.setProperty("bootstrap.servers", bootstrap);
        Thread thread = Thread.currentThread();
        ClassLoader before = thread.getContextClassLoader();
        thread.setContextClassLoader(AdminClient.class.getClassLoader());
        AdminClient admin = (AdminClient) AdminClient.create(properties);
        try {
            TopicPartitionReplica replica = new TopicPartitionReplica(topic, partition.intValue(), broker.intValue());
            admin.alterReplicaLogDirs(Collections.singletonMap(replica, folder)).all().get();
        } finally {
            admin.close();
            thread.setContextClassLoader(before);
        }
    }
}
