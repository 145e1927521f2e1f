package kafkaoracle.isr;

import java.util.Map;
import kafkaoracle.partition.PartitionRule;

/** The in-sync replicas of a partition and what its leader asks of the controller, step by step. */
public final class InSyncRule extends PartitionRule {

    public InSyncRule(String release) {
    }

    @Override
    protected void show(Map<String, Object> shown) throws Exception {
        showInSync(shown);
        showHighWatermark(shown);
    }
}
