package kafkaoracle.spark;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Iterator;
import java.util.NoSuchElementException;
import org.apache.spark.api.java.function.FlatMapFunction;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.Platform;

/**
 * Packs records of (partition int, offset long, timestamp_ms long, key binary) into blocks of one partition each: one row with
 * a binary cell for up to 65,536 records. Row by row, transferring them to Python took longer than auditing them.
 *
 * A cell, little-endian: the number of records (int32), the partition (int32), the bytes of all keys (int64); the offsets
 * (int64 each), the timestamps (int64 each, -1 for none), the ends of the keys (int32 each, after a 0), whether each record
 * has a key (a bit each, the lowest first, in whole bytes), the bytes of the keys.
 */
public final class AuditBlocks implements FlatMapFunction<Iterator<InternalRow>, Row> {
    private static final long serialVersionUID = 1;
    private static final int MOST = 65_536;
    private static final int MOST_BYTES = 32 << 20;

    /** The blocks of these records, in the order of tasks and records. */
    public static Dataset<Row> of(Dataset<Row> records) {
        StructType schema = new StructType().add("cell", DataTypes.BinaryType, false);
        return records.sparkSession().createDataFrame(
            records.queryExecution().toRdd().toJavaRDD().mapPartitions(new AuditBlocks()), schema);
    }

    @Override
    public Iterator<Row> call(Iterator<InternalRow> rows) {
        return new Packer(rows);
    }

    private static final class Packer implements Iterator<Row> {
        private final Iterator<InternalRow> rows;
        private final long[] offsets = new long[MOST];
        private final long[] times = new long[MOST];
        private final int[] ends = new int[MOST + 1];
        private final byte[] hasKey = new byte[MOST / 8];
        private byte[] keys = new byte[1 << 20];
        private int partition;
        private int count;
        private Row full;

        Packer(Iterator<InternalRow> rows) {
            this.rows = rows;
        }

        @Override
        public boolean hasNext() {
            while (full == null && rows.hasNext()) {
                add(rows.next());
            }
            if (full == null && count > 0) {
                full = pack();
            }
            return full != null;
        }

        @Override
        public Row next() {
            if (!hasNext()) {
                throw new NoSuchElementException();
            }
            Row next = full;
            full = null;
            return next;
        }

        private void add(InternalRow row) {
            int next = row.getInt(0);
            if (count == MOST || count > 0 && (next != partition || ends[count] > MOST_BYTES)) {
                full = pack();
            }
            partition = next;
            offsets[count] = row.getLong(1);
            times[count] = row.isNullAt(2) ? -1 : row.getLong(2);
            int end = ends[count];
            if (!row.isNullAt(3)) {
                hasKey[count >> 3] |= (byte) (1 << (count & 7));
                end = row instanceof UnsafeRow unsafe ? copy(unsafe, end) : copy(row.getBinary(3), end);
            }
            ends[++count] = end;
        }

        /** Copies a binary field without an array in between: the row holds its offset and its length in one number. */
        private int copy(UnsafeRow row, int at) {
            long field = Platform.getLong(row.getBaseObject(), row.getBaseOffset() + UnsafeRow.calculateBitSetWidthInBytes(4) + 8 * 3);
            int length = (int) field;
            reserve(at, length);
            Platform.copyMemory(row.getBaseObject(), row.getBaseOffset() + (field >>> 32), keys, Platform.BYTE_ARRAY_OFFSET + at, length);
            return at + length;
        }

        private int copy(byte[] key, int at) {
            reserve(at, key.length);
            System.arraycopy(key, 0, keys, at, key.length);
            return at + key.length;
        }

        private void reserve(int at, int length) {
            if (at + length > keys.length) {
                keys = Arrays.copyOf(keys, Math.max(2 * keys.length, Math.addExact(at, length)));
            }
        }

        private Row pack() {
            int bits = (count + 7) / 8;
            int size = Math.addExact(16 + 16 * count + 4 * (count + 1) + bits, ends[count]);
            ByteBuffer cell = ByteBuffer.allocate(size).order(ByteOrder.LITTLE_ENDIAN);
            cell.putInt(count).putInt(partition).putLong(ends[count]);
            cell.asLongBuffer().put(offsets, 0, count).put(times, 0, count);
            cell.position(16 + 16 * count);
            cell.asIntBuffer().put(ends, 0, count + 1);
            cell.position(16 + 16 * count + 4 * (count + 1));
            cell.put(hasKey, 0, bits).put(keys, 0, ends[count]);
            Arrays.fill(hasKey, 0, bits, (byte) 0);
            count = 0;
            return RowFactory.create((Object) cell.array());
        }
    }
}
