package dev.espalier.data;

import dev.espalier.core.check.Check;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;

/** Memory that batches are written to, one after the other: {@link #begin}, {@link #read} for every row, {@link #batch}. */
final class BatchMemory {
    private static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN);
    /** That of a cache line, and enough for any vector instruction. */
    private static final int ALIGNMENT = 64;

    private final List<Part> inputs = new ArrayList<>();
    private final List<Part> targets = new ArrayList<>();
    private int rows;

    /** Gets ready for the rows of a data set; each loader has one of its own, but with the same fields. */
    void begin(Dataset dataset, int count) {
        rows = count;
        begin(inputs, dataset.inputs());
        begin(targets, dataset.targets());
    }

    private void begin(List<Part> parts, List<Column> columns) {
        for (int i = 0; i < columns.size(); i++) {
            if (parts.size() <= i) {
                parts.add(part(columns.get(i)));
            }
            parts.get(i).begin(columns.get(i), rows);
        }
    }

    private static Part part(Column column) {
        return switch (column) {
            case Column.Numbers _ -> new Numbers();
            case Column.Categories _ -> new Categories();
            case Column.Sequences _ -> new Sequences();
        };
    }

    /** Reads a row of the data set into a row of the batch. */
    void read(int row, int at) {
        inputs.forEach(part -> part.read(row, at));
        targets.forEach(part -> part.read(row, at));
    }

    Batch batch(BatchPosition position) {
        return new Batch(position, rows, tensors(inputs), tensors(targets));
    }

    private static SequencedMap<String, Tensor> tensors(List<Part> parts) {
        SequencedMap<String, Tensor> tensors = new LinkedHashMap<>();
        parts.forEach(part -> tensors.put(part.name(), part.tensor()));
        return Collections.unmodifiableSequencedMap(tensors);
    }

    /** The memory of one column. It grows where it must and is kept otherwise. */
    private abstract static sealed class Part {
        private MemorySegment memory = MemorySegment.NULL;

        final MemorySegment room(DataType type, long... shape) {
            long bytes = Math.multiplyExact(Tensor.size(shape), type.bytes());
            if (memory.byteSize() < bytes) {
                // Freed when nobody has a tensor on it any more, who may keep one longer than the batches.
                memory = Arena.ofAuto().allocate(bytes, ALIGNMENT);
            }
            return memory.asSlice(0, bytes);
        }

        abstract void begin(Column column, int rows);

        abstract void read(int row, int at);

        abstract String name();

        abstract Tensor tensor();
    }

    @SuppressWarnings("NullAway.Init") // begin comes first
    private static final class Numbers extends Part {
        private Column.Numbers column;
        private float[] values;
        private long[] shape;
        private MemorySegment room;

        @Override
        void begin(Column next, int rows) {
            column = (Column.Numbers) next;
            List<Integer> lengths = column.field().shape();
            shape = new long[1 + lengths.size()];
            shape[0] = rows;
            for (int i = 0; i < lengths.size(); i++) {
                shape[i + 1] = lengths.get(i);
            }
            room = room(DataType.FLOAT32, shape);
            if (values == null) {
                values = new float[column.field().size()];
            }
        }

        @Override
        void read(int row, int at) {
            column.read(row, values, 0);
            MemorySegment.copy(values, 0, room, FLOAT, at * (long) values.length * Float.BYTES, values.length);
        }

        @Override
        String name() {
            return column.field().name();
        }

        @Override
        Tensor tensor() {
            return Tensor.of(DataType.FLOAT32, shape, room);
        }
    }

    @SuppressWarnings("NullAway.Init") // begin comes first
    private static final class Categories extends Part {
        private Column.Categories column;
        private MemorySegment room;

        @Override
        void begin(Column next, int rows) {
            column = (Column.Categories) next;
            room = room(DataType.INT64, rows);
        }

        @Override
        void read(int row, int at) {
            room.setAtIndex(LONG, at, column.read(row));
        }

        @Override
        String name() {
            return column.field().name();
        }

        @Override
        Tensor tensor() {
            return Tensor.of(DataType.INT64, new long[] {room.byteSize() / Long.BYTES}, room);
        }
    }

    /** How long the longest sequence of a batch is, is known only when all are read. */
    @SuppressWarnings("NullAway.Init") // begin comes first
    private static final class Sequences extends Part {
        private Column.Sequences column;
        private int[][] sequences;

        @Override
        void begin(Column next, int rows) {
            column = (Column.Sequences) next;
            sequences = new int[rows][];
        }

        @Override
        void read(int row, int at) {
            sequences[at] = column.read(row);
            Check.atMost(
                    "the tokens of a row of " + name(),
                    sequences[at].length,
                    column.field().most());
        }

        @Override
        String name() {
            return column.field().name();
        }

        @Override
        Tensor tensor() {
            int longest = column.field().fixed() ? column.field().most() : 0;
            for (int[] sequence : sequences) {
                longest = Math.max(longest, sequence.length);
            }
            long[] shape = {sequences.length, longest};
            MemorySegment room = room(DataType.INT64, shape);
            long at = 0;
            for (int[] sequence : sequences) {
                for (int i = 0; i < longest; i++) {
                    room.setAtIndex(
                            LONG,
                            at++,
                            i < sequence.length ? sequence[i] : column.field().padding());
                }
            }
            return Tensor.of(DataType.INT64, shape, room);
        }
    }
}
