package kafkaoracle.leader_election;

import java.lang.reflect.Constructor;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.IntPredicate;
import java.util.function.Supplier;
import kafkaoracle.reflection.Arguments;
import kafkaoracle.reflection.Members;
import kafkaoracle.rule.Rule;
import org.apache.kafka.common.Uuid;

/** Builders of a question's change, with what each release's builder takes. */
final class ChangeBuilders {
    private static final Class<?> VERSION = Members.typeOrNull("org.apache.kafka.server.common.MetadataVersion");
    private static final Class<?> ELECTION = Members.nestedType(type(), "Election");
    private static final Class<?> DIRECTORIES = Members.typeOrNull("org.apache.kafka.metadata.placement.DefaultDirProvider");
    private static final Constructor<?> CONSTRUCTOR = Members.constructor(type());
    private static final Map<String, String> LAST_VERSIONS = Map.of(
        "3.1", "IBP_3_1_IV0", "3.5", "IBP_3_5_IV2", "3.6", "IBP_3_6_IV2", "3.7", "IBP_3_7_IV4");
    private static final boolean TAKES_VERSION = Arrays.asList(CONSTRUCTOR.getParameterTypes()).contains(VERSION);

    private static Class<?> type() {
        return Members.typeOrNull("org.apache.kafka.controller.PartitionChangeBuilder");
    }

    Object builder(Object partition, Map<String, Object> question) throws Exception {
        Object builder = CONSTRUCTOR.newInstance(arguments(partition, question));
        setElection(builder, question);
        setList(builder, "setTargetIsr", question.get("isr"));
        setList(builder, "setTargetReplicas", question.get("replicas"));
        setList(builder, "setTargetRemoving", question.get("removing"));
        setList(builder, "setTargetAdding", question.get("adding"));
        if (Members.has(builder, "setTargetLeaderRecoveryState") && question.get("recovery") != null) {
            Members.call(builder, "setTargetLeaderRecoveryState", Registrations.recovery(question.get("recovery")));
        }
        if (Members.has(builder, "setZkMigrationEnabled")) {
            Members.call(builder, "setZkMigrationEnabled", flag(question, "zookeeper_migration", false));
        }
        if (Members.has(builder, "setUncleanShutdownReplicas")) {
            setEligible(builder, question);
        }
        return builder;
    }

    private static Object[] arguments(Object partition, Map<String, Object> question) throws Exception {
        Set<Integer> acceptable = new TreeSet<>(LeaderElectionRule.list(LeaderElectionRule.array(question.get("acceptable"))));
        boolean unclean = "unclean".equals(question.get("election")) || flag(question, "unclean_allowed", false);
        String version = (String) question.getOrDefault("metadata_version", "newest");
        Function<Integer, Boolean> function = acceptable::contains;
        IntPredicate predicate = acceptable::contains;
        Supplier<Boolean> supplier = () -> unclean;
        Arguments arguments = new Arguments()
            .give(Registrations.type(), partition)
            .give(Uuid.class, new Uuid(7, 7))
            .give(int.class, 0, (int) Rule.number(question, "min_isr", 1))
            .give(Function.class, function).give(IntPredicate.class, predicate).give(Supplier.class, supplier)
            .give(boolean.class, TAKES_VERSION ? flag(question, "elr_enabled", false) : !version.equals("3.1"));
        if (TAKES_VERSION) {
            arguments.give(VERSION, version(version));
        }
        return arguments.match(CONSTRUCTOR.getParameterTypes(), missing -> {
            throw new IllegalStateException("PartitionChangeBuilder takes a " + missing.getName());
        });
    }

    /** The metadata version of this name, or the oldest or the newest one that the release has. */
    private static Object version(String name) {
        Object[] versions = VERSION.getEnumConstants();
        for (Object version : versions) {
            if (((Enum<?>) version).name().equals(LAST_VERSIONS.get(name))) {
                return version;
            }
        }
        return name.equals("3.1") ? versions[0] : versions[versions.length - 1];
    }

    @SuppressWarnings({"unchecked", "rawtypes"})
    private static void setElection(Object builder, Map<String, Object> question) throws ReflectiveOperationException {
        String election = (String) question.getOrDefault("election", "online");
        if (ELECTION == null) {
            Members.call(builder, "setAlwaysElectPreferredIfPossible", election.equals("preferred"));
        } else {
            Members.call(builder, "setElection", Enum.valueOf((Class) ELECTION, election.toUpperCase(Locale.ROOT)));
        }
    }

    private static void setEligible(Object builder, Map<String, Object> question) throws ReflectiveOperationException {
        if (Members.has(builder, "setEligibleLeaderReplicasEnabled")) {
            Members.call(builder, "setEligibleLeaderReplicasEnabled", flag(question, "elr_enabled", false));
        }
        Members.call(builder, "setUseLastKnownLeaderInBalancedRecovery", flag(question, "last_leader_enabled", true));
        setList(builder, "setUncleanShutdownReplicas", question.get("unclean_shutdown"));
        if (question.get("directories") != null) {
            for (Object each : (List<?>) question.get("directories")) {
                List<?> pair = (List<?>) each;
                Members.call(builder, "setDirectory", Rule.integer(pair.get(0)), Registrations.directory(pair.get(1)));
            }
        }
        Object otherwise = question.getOrDefault("default_directory", 1);
        if (otherwise != null) {
            Members.call(builder, "setDefaultDirProvider",
                Members.proxy(DIRECTORIES, (proxy, method, arguments) -> Registrations.directory(otherwise)));
        }
    }

    private static void setList(Object builder, String setter, Object numbers) throws ReflectiveOperationException {
        if (numbers != null) {
            Members.call(builder, setter, LeaderElectionRule.list(LeaderElectionRule.array(numbers)));
        }
    }

    private static boolean flag(Map<String, Object> question, String name, boolean otherwise) {
        Object found = question.get(name);
        return found == null ? otherwise : (Boolean) found;
    }
}
