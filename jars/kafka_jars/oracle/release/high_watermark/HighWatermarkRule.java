package kafkaoracle.high_watermark;

import java.util.Map;
import kafkaoracle.partition.PartitionRule;

/** The offsets of a partition's log and of its followers, step by step. */
public final class HighWatermarkRule extends PartitionRule {

    public HighWatermarkRule(String release) {
    }

    @Override
    protected void show(Map<String, Object> shown) throws Exception {
        showOffsets(shown);
        showFollowers(shown);
    }
}
