package kafkaoracle.round_robin_assignor;

import kafkaoracle.assignors.AssignorRule;

/** RoundRobinAssignor. */
public final class RoundRobinAssignorRule extends AssignorRule {

    public RoundRobinAssignorRule(String release) throws ReflectiveOperationException {
        super("RoundRobinAssignor");
    }
}
