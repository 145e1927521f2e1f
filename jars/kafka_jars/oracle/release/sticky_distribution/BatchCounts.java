package kafkaoracle.sticky_distribution;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import kafkaoracle.rule.Rule;

/** The last batch of each partition, reduced to counts. A batch's age is counted in all the producer's records. */
final class BatchCounts {
    private final int full;
    private final Map<Integer, Integer> drainAfter = new HashMap<>();
    /** Records in the batch, and the record that opened it. */
    private final Map<Integer, int[]> last = new HashMap<>();
    private final Map<Integer, int[]> counts = new TreeMap<>();

    BatchCounts(Map<String, Object> question) {
        full = Rule.integer(question.get("batch_records"));
        List<?> partitions = (List<?>) ((Map<?, ?>) question.get("cluster")).get("partitions");
        List<?> ages = (List<?>) question.get("drain_after");
        for (int place = 0; ages != null && place < ages.size(); place++) {
            if (ages.get(place) != null) {
                drainAfter.put(Rule.integer(((Map<?, ?>) partitions.get(place)).get("id")), Rule.integer(ages.get(place)));
            }
        }
    }

    boolean isOpen(int partition, int now) {
        int[] batch = last.get(partition);
        Integer age = drainAfter.get(partition);
        return batch != null && batch[0] < full && (age == null || now - batch[1] < age);
    }

    /** Appends a record, to a new batch if none is open, and returns whether the batch is full with it. */
    boolean append(int partition, int now) {
        if (!isOpen(partition, now)) {
            last.put(partition, new int[] {0, now});
        }
        counts.computeIfAbsent(partition, none -> new int[1])[0]++;
        return ++last.get(partition)[0] >= full;
    }

    List<Object> counts() {
        List<Object> found = new ArrayList<>();
        counts.forEach((partition, count) -> found.add(List.of(partition, count[0])));
        return found;
    }
}
