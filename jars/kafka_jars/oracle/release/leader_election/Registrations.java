package kafkaoracle.leader_election;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import kafkaoracle.reflection.Arguments;
import kafkaoracle.reflection.Members;
import kafkaoracle.rule.Rule;
import org.apache.kafka.common.Uuid;

/** Partitions as the controller has them: by a constructor, or by a builder in releases that have one. */
final class Registrations {
    private static final Class<?> RECOVERY = Members.typeOrNull("org.apache.kafka.metadata.LeaderRecoveryState");
    private static final Class<?> BUILDER = Members.nestedType(type(), "Builder");

    static Class<?> type() {
        return Members.typeOrNull("org.apache.kafka.metadata.PartitionRegistration");
    }

    Object registration(Map<String, Object> fields) throws Exception {
        Object recovery = RECOVERY == null ? null : recovery(fields.getOrDefault("recovery", "recovered"));
        int leader = Rule.integer(fields.get("leader"));
        int leaderEpoch = (int) Rule.number(fields, "leader_epoch", 0);
        int partitionEpoch = (int) Rule.number(fields, "partition_epoch", 0);
        int[] replicas = array(fields, "replicas");
        int[] isr = array(fields, "isr");
        int[] removing = array(fields, "removing");
        int[] adding = array(fields, "adding");
        if (BUILDER == null) {
            Arguments arguments = new Arguments().give(int[].class, replicas, isr, removing, adding)
                .give(int.class, leader, leaderEpoch, partitionEpoch);
            if (RECOVERY != null) {
                arguments.give(RECOVERY, recovery);
            }
            var constructor = Members.constructor(type());
            return constructor.newInstance(arguments.match(constructor.getParameterTypes(), missing -> {
                throw new IllegalStateException("PartitionRegistration takes a " + missing.getName());
            }));
        }
        Object builder = Members.constructor(BUILDER).newInstance();
        Members.call(builder, "setReplicas", (Object) replicas);
        Members.call(builder, "setIsr", (Object) isr);
        Members.call(builder, "setRemovingReplicas", (Object) removing);
        Members.call(builder, "setAddingReplicas", (Object) adding);
        Members.call(builder, "setLeader", leader);
        Members.call(builder, "setLeaderRecoveryState", recovery);
        Members.call(builder, "setLeaderEpoch", leaderEpoch);
        Members.call(builder, "setPartitionEpoch", partitionEpoch);
        if (Members.has(builder, "setElr")) {
            Members.call(builder, "setElr", (Object) array(fields, "elr"));
            Members.call(builder, "setLastKnownElr", (Object) array(fields, "last_known_elr"));
            Members.call(builder, "setDirectories", (Object) directories(fields.get("directories"), replicas.length));
        }
        return Members.call(builder, "build");
    }

    /** What a registration holds, by the names of a question. */
    Map<String, Object> fields(Object partition) throws ReflectiveOperationException {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("replicas", list(partition, "replicas"));
        fields.put("isr", list(partition, "isr"));
        fields.put("leader", Members.get(partition, "leader"));
        fields.put("removing", list(partition, "removingReplicas"));
        fields.put("adding", list(partition, "addingReplicas"));
        fields.put("leader_epoch", Members.get(partition, "leaderEpoch"));
        fields.put("partition_epoch", Members.get(partition, "partitionEpoch"));
        if (RECOVERY != null) {
            fields.put("recovery", Members.get(partition, "leaderRecoveryState").toString().toLowerCase(Locale.ROOT));
        }
        if (Members.field(type(), "elr") != null) {
            fields.put("elr", list(partition, "elr"));
            fields.put("last_known_elr", list(partition, "lastKnownElr"));
            fields.put("directories", numbers((Uuid[]) Members.get(partition, "directories")));
        }
        return fields;
    }

    @SuppressWarnings({"unchecked", "rawtypes"})
    static Object recovery(Object name) {
        return Enum.valueOf((Class) RECOVERY, ((String) name).toUpperCase(Locale.ROOT));
    }

    /** The directory ids of a question are the low numbers of a Uuid: 0, 1 and 2 have a meaning in DirectoryId. */
    static Uuid directory(Object number) {
        return new Uuid(0, Rule.integer(number));
    }

    static List<Integer> numbers(Uuid[] directories) {
        List<Integer> numbers = new ArrayList<>();
        for (Uuid directory : directories) {
            numbers.add((int) directory.getLeastSignificantBits());
        }
        return numbers;
    }

    private static Uuid[] directories(Object given, int replicas) {
        Uuid[] directories = new Uuid[replicas];
        Arrays.fill(directories, directory(0));
        if (given != null) {
            List<?> numbers = (List<?>) given;
            for (int place = 0; place < replicas; place++) {
                directories[place] = directory(numbers.get(place));
            }
        }
        return directories;
    }

    private static List<Integer> list(Object partition, String field) throws ReflectiveOperationException {
        return LeaderElectionRule.list((int[]) Members.get(partition, field));
    }

    private static int[] array(Map<String, Object> fields, String name) {
        Object numbers = fields.get(name);
        return numbers == null ? new int[0] : LeaderElectionRule.array(numbers);
    }
}
