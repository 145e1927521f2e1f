package kafkaoracle.spark;

import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import org.apache.spark.sql.Row;

/**
 * The planned records of one target partition, as a task reads them: record i gets offset i. It is checked once more that
 * they are those of one partition, numbered from its base, and that each source partition's offsets ascend, since nothing
 * that is written can be taken back. The base is the number of records that earlier passes have written: 0 in the first.
 */
final class RepairPlan {
    final int target;
    final long base;
    private final Iterator<Row> rows;
    private final Map<Integer, Long> reached = new HashMap<>();
    private Row upcoming;
    private long index;

    /** Takes rows of (target, index, source_partition, source_offset, timestamp_ms, key, value, headers); at least one. */
    RepairPlan(Iterator<Row> rows, Map<Integer, Long> bases) {
        this.rows = rows;
        this.upcoming = rows.next();
        this.target = upcoming.getInt(0);
        this.base = bases.getOrDefault(target, 0L);
        this.index = base;
    }

    boolean hasNext() {
        return upcoming != null || rows.hasNext();
    }

    Row next() {
        Row row = upcoming != null ? upcoming : rows.next();
        upcoming = null;
        Long before = reached.put(row.getInt(2), row.getLong(3));
        if (row.getInt(0) != target || row.getLong(1) != index || (before != null && before >= row.getLong(3))) {
            throw new IllegalStateException("the plan's records come out of order, record " + row.getLong(1) + " of partition "
                    + row.getInt(0) + " as record " + index + " of partition " + target + ": nothing was written for it");
        }
        index++;
        return row;
    }

    /** Skips the records that are written already, up to this offset, and returns the last of them. */
    Row skip(long written) {
        if (written < base) {
            throw new IllegalStateException("partition " + target + " ends at offset " + written + ", but " + base
                    + " records were written to it: it was truncated or recreated; start again with another topic and folder");
        }
        Row last = null;
        while (index < written) {
            if (!hasNext()) {
                throw new IllegalStateException("partition " + target + " ends at offset " + written + " and the plan at " + index
                        + ": another producer has written to it; delete the topic and start again, in another folder");
            }
            last = next();
        }
        return last;
    }
}
