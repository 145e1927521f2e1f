package kafkaoracle.server_uniform_assignor;

import kafkaoracle.server_assignors.ServerAssignorRule;

/** UniformAssignor of the group coordinator. */
public final class ServerUniformAssignorRule extends ServerAssignorRule {

    public ServerUniformAssignorRule(String release) {
        super("UniformAssignor");
    }
}
