package kafkaoracle.sender;

import java.lang.reflect.Constructor;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import kafkaoracle.accumulator.SteppedClock;
import kafkaoracle.cluster.ClusterView;
import kafkaoracle.reflection.Arguments;
import kafkaoracle.reflection.Members;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.utils.Time;

/** A producer's metadata, Metadata or ProducerMetadata, that holds a cluster, wherever this release keeps it. */
public final class FilledMetadata {
    private FilledMetadata() {
    }

    public static Object create(Class<?> type, SteppedClock clock, ClusterView view) throws Exception {
        Constructor<?> constructor = Members.constructor(type);
        Object metadata = constructor.newInstance(new Arguments()
            .giveAll(long.class, 100L).giveAll(boolean.class, false).giveAll(Time.class, clock.time)
            .match(constructor.getParameterTypes(), each -> each.getConstructor().newInstance()));
        fill(metadata, view);
        return metadata;
    }

    public static void fill(Object metadata, ClusterView view) throws Exception {
        if (Members.field(metadata.getClass(), "cluster") != null) {
            Members.set(metadata, "cluster", view.cluster);
        } else if (Members.field(metadata.getClass(), "metadataSnapshot") != null) {
            Members.set(metadata, "metadataSnapshot", view.snapshot);
        } else if (view.snapshot != null) {
            Members.set(metadata, "cache", view.snapshot);
        } else {
            Object cache = empty(Members.field(metadata.getClass(), "cache").getType());
            Members.set(cache, "clusterInstance", view.cluster);
            Members.set(metadata, "cache", cache);
        }
    }

    private static Object empty(Class<?> cache) throws Exception {
        Constructor<?> constructor = Arrays.stream(cache.getDeclaredConstructors())
            .min(Comparator.comparing(Constructor::getParameterCount)).orElseThrow();
        constructor.setAccessible(true);
        return constructor.newInstance(new Arguments()
            .giveAll(Map.class, Map.of()).giveAll(Set.class, Set.of()).giveAll(List.class, List.of())
            .giveAll(Collection.class, List.of()).giveAll(Cluster.class, Cluster.empty())
            .match(constructor.getParameterTypes(), type -> null));
    }
}
