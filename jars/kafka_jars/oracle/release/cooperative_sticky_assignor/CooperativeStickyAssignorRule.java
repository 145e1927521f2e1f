package kafkaoracle.cooperative_sticky_assignor;

import kafkaoracle.assignors.AssignorRule;

/** CooperativeStickyAssignor. */
public final class CooperativeStickyAssignorRule extends AssignorRule {

    public CooperativeStickyAssignorRule(String release) throws ReflectiveOperationException {
        super("CooperativeStickyAssignor");
    }
}
