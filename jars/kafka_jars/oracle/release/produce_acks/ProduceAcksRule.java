package kafkaoracle.produce_acks;

import kafkaoracle.partition.ProduceRule;

/** When and how produce requests are answered. */
public final class ProduceAcksRule extends ProduceRule {

    public ProduceAcksRule(String release) {
    }
}
