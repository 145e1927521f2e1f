package kafkaoracle.leader_election;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import kafkaoracle.reflection.Members;
import kafkaoracle.rule.Rule;
import org.apache.kafka.common.Uuid;

/** PartitionChangeBuilder.build, and PartitionRegistration.merge of the record that it builds. */
public final class LeaderElectionRule extends Rule {
    private static final int NO_LEADER_CHANGE = -2;
    private static final byte NO_RECOVERY_CHANGE = -1;

    // Made with the first question: the jars of the broker come after the rule.
    private ChangeBuilders builders;
    private Registrations registrations;

    public LeaderElectionRule(String release) {
    }

    @Override
    @SuppressWarnings("unchecked")
    protected Map<String, Object> answer(Map<String, Object> question) throws Exception {
        if (builders == null) {
            builders = new ChangeBuilders();
            registrations = new Registrations();
        }
        Object partition = registrations.registration((Map<String, Object>) question.get("partition"));
        Object builder = builders.builder(partition, question);
        Optional<?> built = (Optional<?>) kafka(builder, "build");
        Map<String, Object> answer = new LinkedHashMap<>();
        if (built.isEmpty()) {
            answer.put("change", null);
            return answer;
        }
        Object record = Members.read(built.get(), "message");
        answer.put("change", change(record));
        answer.put("version", ((Number) Members.read(built.get(), "version")).intValue());
        answer.put("after", registrations.fields(kafka(partition, "merge", record)));
        return answer;
    }

    private Map<String, Object> change(Object record) throws ReflectiveOperationException {
        Map<String, Object> fields = new LinkedHashMap<>();
        int leader = (int) Members.read(record, "leader");
        put(fields, "leader", leader == NO_LEADER_CHANGE ? null : leader);
        put(fields, "isr", Members.read(record, "isr"));
        put(fields, "replicas", Members.read(record, "replicas"));
        put(fields, "removing", Members.read(record, "removingReplicas"));
        put(fields, "adding", Members.read(record, "addingReplicas"));
        if (Members.has(record, "leaderRecoveryState") && (byte) Members.read(record, "leaderRecoveryState") != NO_RECOVERY_CHANGE) {
            fields.put("recovery", (byte) Members.read(record, "leaderRecoveryState") == 0 ? "recovered" : "recovering");
        }
        if (Members.has(record, "eligibleLeaderReplicas")) {
            put(fields, "elr", Members.read(record, "eligibleLeaderReplicas"));
            put(fields, "last_known_elr", Members.read(record, Members.has(record, "lastKnownElr") ? "lastKnownElr" : "lastKnownELR"));
            List<?> directories = (List<?>) Members.read(record, "directories");
            put(fields, "directories", directories == null ? null : Registrations.numbers(directories.toArray(new Uuid[0])));
        }
        return fields;
    }

    private static void put(Map<String, Object> fields, String name, Object value) {
        if (value != null) {
            fields.put(name, value);
        }
    }

    static int[] array(Object numbers) {
        return ((List<?>) numbers).stream().mapToInt(Rule::integer).toArray();
    }

    static List<Integer> list(int[] numbers) {
        return Arrays.stream(numbers).boxed().collect(Collectors.toList());
    }
}
