package kafkaoracle.range_assignor;

import kafkaoracle.assignors.AssignorRule;

/** RangeAssignor. */
public final class RangeAssignorRule extends AssignorRule {

    public RangeAssignorRule(String release) throws ReflectiveOperationException {
        super("RangeAssignor");
    }
}
