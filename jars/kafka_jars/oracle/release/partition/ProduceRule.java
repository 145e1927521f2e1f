package kafkaoracle.partition;

import java.util.List;
import java.util.Map;
import kafkaoracle.reflection.Members;

/** A script of a partition that gets produce requests; shows the responses of each step. */
public abstract class ProduceRule extends PartitionRule {
    private ProduceRequests requests;
    private List<Object> checked;

    @Override
    protected void opened() throws Exception {
        if (requests == null) {
            requests = new ProduceRequests(parts());
        }
        requests.begin(live());
    }

    @Override
    protected void closing() throws Exception {
        if (requests != null) {
            requests.end();
        }
    }

    @Override
    protected void follows(boolean anew) throws Exception {
        if (anew) {
            requests.completeAsFollower();
        }
    }

    @Override
    protected void takeOwn(String op, Map<String, Object> step) throws Exception {
        switch (op) {
            case "produce":
                requests.produce((int) number(step, "acks", -1), (int) number(step, "records", 1));
                return;
            case "expire":
                parts().purgatories.expire();
                return;
            case "check":
                Object found = kafka(live().partition, "checkEnoughReplicasReachOffset", number(step, "offset", 0));
                checked = List.of(Members.call(found, "_1"), Members.call(found, "_2").toString());
                return;
            default:
                super.takeOwn(op, step);
        }
    }

    @Override
    protected void show(Map<String, Object> shown) throws Exception {
        if (checked != null) {
            shown.put("checked", checked);
            checked = null;
        }
        showOffsets(shown);
        shown.put("responses", requests.take());
    }
}
