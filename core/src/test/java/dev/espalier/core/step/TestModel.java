package dev.espalier.core.step;

import dev.espalier.core.tensor.ElementType;
import dev.espalier.core.tensor.TensorView;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import java.util.SplittableRandom;

/** A model in native memory, for tests: the weights and gradients of named tensors. */
public final class TestModel implements AutoCloseable {

    /** How a tensor lies in memory. */
    public enum Layout {
        /** In one piece. */
        ROW_MAJOR,
        /** A matrix whose columns lie in one piece. */
        TRANSPOSED,
        /** Every second number of a longer vector. */
        SLICED
    }

    private final Arena arena = Arena.ofShared();
    private final SequencedMap<String, TensorView> weights = new LinkedHashMap<>();
    private final SequencedMap<String, TensorView> gradients = new LinkedHashMap<>();

    /** All parameters of some sets, row-major. */
    public TestModel(List<ParameterSet> sets) {
        this(sets, Layout.ROW_MAJOR, Layout.ROW_MAJOR);
    }

    /** All parameters of some sets. */
    public TestModel(List<ParameterSet> sets, Layout weightLayout, Layout gradientLayout) {
        for (ParameterSet set : sets) {
            for (Parameter parameter : set.parameters()) {
                weights.put(parameter.name(), tensor(parameter.size(), weightLayout));
                gradients.put(parameter.name(), tensor(parameter.size(), gradientLayout));
            }
        }
    }

    private TensorView tensor(long size, Layout layout) {
        MemorySegment memory = arena.allocate(2 * size * Float.BYTES, 64);
        long rows = 2;
        while (rows < size && size % rows != 0) {
            rows++;
        }
        return switch (layout) {
            case ROW_MAJOR -> TensorView.of(memory, ElementType.FLOAT32, size);
            case TRANSPOSED ->
                size == 1
                        ? TensorView.of(memory, ElementType.FLOAT32, 1)
                        : TensorView.of(
                                memory, ElementType.FLOAT32, new long[] {rows, size / rows}, new long[] {1, rows});
            case SLICED -> TensorView.of(memory, ElementType.FLOAT32, new long[] {size}, new long[] {2});
        };
    }

    /** The weights by name. */
    public SequencedMap<String, TensorView> weights() {
        return weights;
    }

    /** The gradients by name. */
    public SequencedMap<String, TensorView> gradients() {
        return gradients;
    }

    /** Fills tensors with normal numbers. */
    public static void fill(SequencedMap<String, TensorView> tensors, SplittableRandom random, double scale) {
        for (TensorView tensor : tensors.values()) {
            for (long i = 0; i < tensor.size(); i++) {
                tensor.set(i, scale * random.nextGaussian());
            }
        }
    }

    /** The bits of all numbers, tensor by tensor. */
    public static int[] bits(SequencedMap<String, TensorView> tensors) {
        int[] bits = new int
                [Math.toIntExact(
                        tensors.values().stream().mapToLong(TensorView::size).sum())];
        int next = 0;
        for (TensorView tensor : tensors.values()) {
            for (long i = 0; i < tensor.size(); i++) {
                bits[next++] = Float.floatToRawIntBits((float) tensor.get(i));
            }
        }
        return bits;
    }

    /** All numbers of a tensor. */
    public static double[] values(TensorView tensor) {
        double[] values = new double[Math.toIntExact(tensor.size())];
        Arrays.setAll(values, tensor::get);
        return values;
    }

    /** A copy of an optimizer's state, by name, to be compared. */
    public static SequencedMap<String, List<Byte>> copy(SequencedMap<String, MemorySegment> state) {
        SequencedMap<String, List<Byte>> copy = new LinkedHashMap<>();
        state.forEach((name, memory) -> {
            Byte[] bytes = new Byte[Math.toIntExact(memory.byteSize())];
            Arrays.setAll(bytes, i -> memory.get(ValueLayout.JAVA_BYTE, i));
            copy.put(name, List.of(bytes));
        });
        return copy;
    }

    @Override
    public void close() {
        arena.close();
    }
}
