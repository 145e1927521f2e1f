package kafkaoracle.assignors;

import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import kafkaoracle.reflection.Members;
import kafkaoracle.rule.Rule;
import org.apache.kafka.common.TopicPartition;

/**
 * Subscriptions as the leader of a group gets them. They are of PartitionAssignor, since 2.4.0 of ConsumerPartitionAssignor, with
 * owned partitions since then, and with generation and rack since 3.4.0.
 *
 * The user data are what the member's assignor writes after it has received its owned partitions and their generation. A
 * member that owned partitions and has no generation is of an older release, whose user data have none.
 */
final class AskedSubscriptions {
    private static final String CONSUMER = "org.apache.kafka.clients.consumer.";
    private static final Class<?> INTERFACE =
        Members.typeOrNull(CONSUMER + "ConsumerPartitionAssignor", CONSUMER + "internals.PartitionAssignor");
    private static final Class<?> GROUP = Members.nestedType(INTERFACE, "GroupSubscription");
    private static final Constructor<?> SUBSCRIPTION = Members.constructor(Members.nestedType(INTERFACE, "Subscription"));
    private static final Constructor<?> ASSIGNMENT = Members.constructor(Members.nestedType(INTERFACE, "Assignment"));

    private static final int NO_GENERATION = -1;

    private AskedSubscriptions() {
    }

    /** What an assignor takes: a GroupSubscription since 2.4.0, a Map before. */
    static Class<?> groupType() {
        return GROUP == null ? Map.class : GROUP;
    }

    static Object group(Map<String, Object> subscriptions) throws ReflectiveOperationException {
        return GROUP == null ? subscriptions : Members.constructor(GROUP).newInstance(subscriptions);
    }

    /** The subscription of a member, whose assignor is {@code own}. */
    static Object of(Map<?, ?> member, Object own) throws ReflectiveOperationException {
        List<String> topics = new ArrayList<>();
        for (Object topic : (List<?>) member.get("topics")) {
            topics.add((String) topic);
        }
        List<TopicPartition> owned = owned(member);
        int generation = (int) Rule.number(member, "generation", NO_GENERATION);
        if (!owned.isEmpty() || generation != NO_GENERATION) {
            tell(own, owned, generation, member);
        }
        ByteBuffer data = userData(own, new LinkedHashSet<>(topics));
        if (!owned.isEmpty() && member.get("generation") == null) {
            data = withoutGeneration(own, data);
        }
        Optional<Object> rack = Optional.ofNullable(member.get("rack"));
        Object subscription = switch (SUBSCRIPTION.getParameterCount()) {
            case 2 -> SUBSCRIPTION.newInstance(topics, data);
            case 3 -> SUBSCRIPTION.newInstance(topics, data, owned);
            default -> SUBSCRIPTION.newInstance(
                topics, data, owned, (int) Rule.number(member, "subscription_generation", generation), rack);
        };
        if (Members.has(subscription, "setGroupInstanceId")) {
            Members.call(subscription, "setGroupInstanceId", Optional.ofNullable(member.get("instance")));
        }
        return subscription;
    }

    private static List<TopicPartition> owned(Map<?, ?> member) {
        List<TopicPartition> owned = new ArrayList<>();
        if (member.get("owned") != null) {
            for (Object each : (List<?>) member.get("owned")) {
                List<?> partition = (List<?>) each;
                owned.add(new TopicPartition((String) partition.get(0), Rule.integer(partition.get(1))));
            }
        }
        return owned;
    }

    /** Tells an assignor what its member has been assigned: with the generation since 2.3.0, as group metadata since 2.4.0. */
    private static void tell(Object assignor, List<TopicPartition> owned, int generation, Map<?, ?> member)
            throws ReflectiveOperationException {
        Object assignment = ASSIGNMENT.newInstance(owned, ByteBuffer.wrap(new byte[0]));
        Method told = Members.method(assignor.getClass(), "onAssignment");
        if (told.getParameterCount() == 1) {
            told.invoke(assignor, assignment);
        } else if (told.getParameterTypes()[1] == int.class) {
            told.invoke(assignor, assignment, generation);
        } else {
            Object metadata = Members.constructor(told.getParameterTypes()[1])
                .newInstance("group", generation, member.get("id"), Optional.ofNullable(member.get("instance")));
            told.invoke(assignor, assignment, metadata);
        }
    }

    /** What the assignor of a member writes into its subscription; null, or empty up to 2.3.x, where it writes nothing. */
    private static ByteBuffer userData(Object assignor, Set<String> topics) throws ReflectiveOperationException {
        if (GROUP != null) {
            return (ByteBuffer) Members.call(assignor, "subscriptionUserData", topics);
        }
        return (ByteBuffer) Members.call(Members.call(assignor, "subscription", topics), "userData");
    }

    /**
     * The user data of a member of an older release, which has no generation: the generation stands last. StickyAssignor writes
     * it since 2.3.0, CooperativeStickyAssignor since 2.8.1, and nothing else.
     */
    private static ByteBuffer withoutGeneration(Object assignor, ByteBuffer data) {
        boolean empty = data == null || !data.hasRemaining();
        if (empty || Members.method(assignor.getClass(), "onAssignment").getParameterCount() == 1) {
            return data;
        }
        int length = data.remaining() - Integer.BYTES;
        return length == 0 ? null : data.slice(data.position(), length);
    }
}
