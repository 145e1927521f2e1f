package kafkaoracle.partition;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import kafkaoracle.reflection.Members;
import kafkaoracle.rule.ScriptRule;
import org.apache.kafka.common.TopicPartition;

/** A script of one partition on broker 1; each rule shows another part of its state after a step. */
public abstract class PartitionRule extends ScriptRule {
    private static final long BROKER_EPOCH = 100;

    private PartitionParts parts;
    private LivePartition live;
    private long questions;

    /** What a step shows, besides what it returned. */
    protected abstract void show(Map<String, Object> shown) throws Exception;

    @Override
    protected void begin(Map<String, Object> question) throws Exception {
        if (parts == null) { // the broker's jars are loaded only once a rule has a question
            parts = new PartitionParts();
        }
        parts.clock.now = number(question, "now", 0);
        parts.requests.begin();
        parts.metadata.begin((List<?>) question.getOrDefault("brokers", List.of()));
        live = new LivePartition(new TopicPartition("t" + questions++, 0), number(question, "max_lag_ms", 0), BROKER_EPOCH, parts);
        live.setMinInSync((int) number(question, "min_in_sync", 1));
        opened();
    }

    /** Called when the partition of a question has been made. */
    protected void opened() throws Exception {
    }

    /** Called before the partition of a question is removed. */
    protected void closing() throws Exception {
    }

    final PartitionParts parts() {
        return parts;
    }

    final LivePartition live() {
        return live;
    }

    @Override
    protected Map<String, Object> answerStep(Map<String, Object> step) {
        return withoutMessage(super.answerStep(step));
    }

    @Override
    protected void end() {
        try {
            if (live != null) {
                parts.purgatories.expire();
                closing();
                Members.call(live.partition, "delete");
                parts.logs.drop(live.topicPartition);
                live = null;
            }
        } catch (Exception fault) {
            throw new IllegalStateException(fault.toString(), fault);
        }
    }

    @Override
    protected Map<String, Object> take(String op, Map<String, Object> step) throws Exception {
        Map<String, Object> shown = new LinkedHashMap<>();
        switch (op) {
            case "lead":
                shown.put("new", live.become("makeLeader", step));
                break;
            case "follow":
                shown.put("new", live.become("makeFollower", step));
                follows((Boolean) shown.get("new"));
                break;
            case "append":
                shown.put("offset", live.append((int) number(step, "records", 1), (int) number(step, "acks", -1)));
                break;
            case "fetch":
                fetch(step, shown);
                break;
            case "replicate":
                live.appendAsFollower((List<?>) step.get("batches"));
                break;
            case "follow_high_watermark":
                live.follow(number(step, "offset", 0));
                break;
            case "truncate":
                live.truncate(number(step, "offset", 0));
                break;
            case "epoch_end":
                shown.put("found", live.epochEnd((int) number(step, "epoch", 0)));
                break;
            default:
                change(op, step);
        }
        show(shown);
        return shown;
    }

    private void fetch(Map<String, Object> step, Map<String, Object> shown) throws Exception {
        List<Object> diverging = live.fetch(step, parts.clock.now);
        if (diverging != null) {
            shown.put("diverging", diverging);
        }
    }

    private void change(String op, Map<String, Object> step) throws Exception {
        switch (op) {
            case "wait":
                parts.clock.now += number(step, "ms", 0);
                return;
            case "shrink":
                kafka(live.partition, "maybeShrinkIsr");
                return;
            case "respond":
                parts.requests.answer((String) step.getOrDefault("error", ""), number(step, "partition_epoch", 0));
                return;
            case "broker":
                parts.metadata.register(step);
                return;
            case "unregister":
                parts.metadata.unregister((int) number(step, "id", 0));
                return;
            case "min_in_sync":
                live.setMinInSync((int) number(step, "replicas", 1));
                return;
            default:
                takeOwn(op, step);
        }
    }

    /** Takes a step that only this rule has. */
    protected void takeOwn(String op, Map<String, Object> step) throws Exception {
        throw new IllegalArgumentException("a script of a partition has no step " + op);
    }

    /** Called when the partition follows; {@code anew} if its leader epoch is new. */
    protected void follows(boolean anew) throws Exception {
    }

    /** The log end offset and the high watermark. */
    protected void showOffsets(Map<String, Object> shown) throws Exception {
        shown.put("end", Members.call(live.log(), "logEndOffset"));
        showHighWatermark(shown);
    }

    protected void showHighWatermark(Map<String, Object> shown) throws Exception {
        shown.put("high_watermark", Members.call(live.log(), "highWatermark"));
    }

    /** Of each follower: its id, log end offset, log start offset, and when it was last caught up. */
    protected void showFollowers(Map<String, Object> shown) throws Exception {
        List<Object> followers = new ArrayList<>();
        for (int broker = 1; broker <= 4; broker++) {
            Object state = live.replicaState(broker);
            if (state != null) {
                followers.add(List.of(broker, Members.call(state, "logEndOffset"), Members.read(state, "logStartOffset"),
                    Members.read(state, "lastCaughtUpTimeMs")));
            }
        }
        shown.put("followers", followers);
    }

    /** The committed and the maximal in-sync replicas, whether a change is in flight, and what was sent for it. */
    protected void showInSync(Map<String, Object> shown) throws Exception {
        Object state = Members.call(live.partition, "partitionState");
        shown.put("in_sync", sorted(Members.call(state, "isr")));
        shown.put("maximal", sorted(Members.call(state, "maximalIsr")));
        shown.put("in_flight", Members.call(state, "isInflight"));
        shown.put("sent", parts.requests.takeSent());
    }

    private static List<Object> sorted(Object collection) throws ReflectiveOperationException {
        return Scala.elements(collection).stream().sorted().toList();
    }

}
