package kafkaoracle.server_assignors;

import java.util.AbstractSet;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import org.apache.kafka.common.Uuid;

/**
 * The topic ids of a member's subscription.
 *
 * Since 3.8.0 the coordinator passes TopicIds: the ids of a HashSet of names, in the order of the names, of which those without a
 * topic have none but count for the size. Up to 3.7.x it passes a HashSet of the ids, filled in the order of sorted names.
 */
final class SubscribedIds extends AbstractSet<Uuid> {
    private final List<Uuid> ids = new ArrayList<>();
    private final int size;

    private SubscribedIds(Set<String> names, AskedTopics topics) {
        size = names.size();
        for (String name : names) {
            if (topics.existing(name) != null) {
                ids.add(topics.existing(name));
            }
        }
    }

    static Set<Uuid> of(List<String> names, AskedTopics topics, boolean byName) {
        if (byName) {
            return new SubscribedIds(new HashSet<>(names), topics);
        }
        List<String> sorted = new ArrayList<>(names);
        Collections.sort(sorted);
        Set<Uuid> found = new HashSet<>();
        for (String name : sorted) {
            if (topics.existing(name) != null) {
                found.add(topics.existing(name));
            }
        }
        return found;
    }

    @Override
    public Iterator<Uuid> iterator() {
        return ids.iterator();
    }

    @Override
    public boolean contains(Object id) {
        return ids.contains(id);
    }

    @Override
    public int size() {
        return size;
    }
}
