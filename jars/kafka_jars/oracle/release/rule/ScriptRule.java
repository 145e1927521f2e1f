package kafkaoracle.rule;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import kafkaoracle.cluster.Clusters;
import org.apache.kafka.common.Cluster;

/**
 * A rule that is asked by a script: a cluster, and steps that are taken one after another on one object of Kafka's.
 *
 * A step that Kafka raises in is answered by what it raised, and the script goes on with whatever state that left. So
 * each step is a small rule of its own, whose question is the step.
 */
public abstract class ScriptRule extends Rule {
    /** The topic of steps that name none. */
    public static final String TOPIC = "t";

    private final Rule step = new Rule() {
        @Override
        protected Map<String, Object> answer(Map<String, Object> asked) throws Exception {
            return take((String) asked.get("op"), asked);
        }
    };

    private Cluster cluster;

    /** Makes Kafka's object anew. The question's first cluster is made already, so no draw is lost to it. */
    protected abstract void begin(Map<String, Object> question) throws Exception;

    /** Takes one step, anything but a change of the cluster. */
    protected abstract Map<String, Object> take(String op, Map<String, Object> asked) throws Exception;

    /** The cluster as it is at this step. */
    protected final Cluster cluster() {
        return cluster;
    }

    @Override
    @SuppressWarnings("unchecked")
    protected final Map<String, Object> answer(Map<String, Object> question) throws Exception {
        List<Map<String, Object>> steps = (List<Map<String, Object>>) question.get("steps");
        Set<String> topics = topics(steps);
        cluster = Clusters.from(question.get("cluster"), topics);
        begin(question);
        List<Object> answers = new ArrayList<>(steps.size());
        for (Map<String, Object> asked : steps) {
            if (asked.get("op").equals("cluster")) {
                cluster = Clusters.from(asked.get("cluster"), topics);
                answers.add(Map.of());
            } else {
                answers.add(step.apply(asked));
            }
        }
        return Map.of("steps", answers);
    }

    private static Set<String> topics(List<Map<String, Object>> steps) {
        Set<String> named = new LinkedHashSet<>();
        for (Map<String, Object> asked : steps) {
            named.add((String) asked.getOrDefault("topic", TOPIC));
        }
        return named;
    }
}
