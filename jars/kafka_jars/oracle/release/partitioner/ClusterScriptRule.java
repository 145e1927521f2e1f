package kafkaoracle.partitioner;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import kafkaoracle.cluster.Clusters;
import kafkaoracle.rule.ScriptRule;
import org.apache.kafka.common.Cluster;

/** A script over a cluster, which a step can change. */
public abstract class ClusterScriptRule extends ScriptRule {
    /** The topic of steps that name none. */
    protected static final String TOPIC = "t";

    private Cluster cluster;
    private Set<String> topics;

    /** Makes a new object of Kafka's. The question's first cluster is made already, so it takes no draw. */
    protected abstract void start(Map<String, Object> question) throws Exception;

    /** The cluster at this step. */
    protected final Cluster cluster() {
        return cluster;
    }

    @Override
    @SuppressWarnings("unchecked")
    protected final void begin(Map<String, Object> question) throws Exception {
        topics = new LinkedHashSet<>();
        for (Map<String, Object> step : (List<Map<String, Object>>) question.get("steps")) {
            topics.add((String) step.getOrDefault("topic", TOPIC));
        }
        cluster = Clusters.from(question.get("cluster"), topics);
        start(question);
    }

    @Override
    protected Map<String, Object> take(String op, Map<String, Object> step) throws Exception {
        if (!op.equals("cluster")) {
            throw new IllegalArgumentException("a script of " + getClass().getSimpleName() + " has no step " + op);
        }
        cluster = Clusters.from(step.get("cluster"), topics);
        return Map.of();
    }
}
