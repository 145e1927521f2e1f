package kafkaoracle.sticky_assignor;

import kafkaoracle.assignors.AssignorRule;

/** StickyAssignor. */
public final class StickyAssignorRule extends AssignorRule {

    public StickyAssignorRule(String release) throws ReflectiveOperationException {
        super("StickyAssignor");
    }
}
