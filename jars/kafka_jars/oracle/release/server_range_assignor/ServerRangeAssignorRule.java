package kafkaoracle.server_range_assignor;

import kafkaoracle.server_assignors.ServerAssignorRule;

/** RangeAssignor of the group coordinator. */
public final class ServerRangeAssignorRule extends ServerAssignorRule {

    public ServerRangeAssignorRule(String release) {
        super("RangeAssignor");
    }
}
