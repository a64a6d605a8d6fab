package dev.espalier.graph.prune;

import dev.espalier.graph.prune.Rule.Product;
import dev.espalier.graph.type.Tensor;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Optional;

/** The weights of a layer, asked by channels: which input channels does an output channel read, and with what sum? */
final class LayerWeights {
    private final Product rule;
    private final Tensor weight;
    private final int outs;
    private final int insPerGroup;
    private final int outStride;
    private final int inStride;
    private final int inner;
    private final BitSet[] read;

    /** Weights of which none is read so far. */
    private LayerWeights(Product rule, Tensor weight) {
        this.rule = rule;
        this.weight = weight;
        long[] shape = weight.shape();
        // Of a convolution [out, in / groups, …], its transpose [in, out / groups, …], a linear layer [out, in] or [in,
        // out].
        boolean outsFirst = rule.outAxis() == 0;
        outs = (int) shape[rule.outAxis()] * (outsFirst ? 1 : rule.groups());
        insPerGroup = (int) shape[rule.inAxis()] / (outsFirst ? 1 : rule.groups());
        inner = (int) (weight.size() / Math.max((long) outs * insPerGroup, 1));
        outStride = outsFirst ? insPerGroup * inner : inner;
        inStride = outsFirst ? inner : (int) shape[rule.outAxis()] * inner;
        read = new BitSet[outs];
        Arrays.setAll(read, _ -> new BitSet());
    }

    /** Looks through the weights, as the memory lies: across it, wide layers are several times as slow. */
    static LayerWeights of(Product rule, Tensor weight) {
        LayerWeights found = new LayerWeights(rule, weight);
        boolean outsFirst = rule.outAxis() == 0;
        int columns = outsFirst ? found.insPerGroup : found.outs / rule.groups();
        float[] row = new float[columns * found.inner];
        for (int i = 0; i < (outsFirst ? found.outs : found.insPerGroup * rule.groups()); i++) {
            weight.read((long) i * row.length, row);
            int first = outsFirst ? found.firstIn(i) : i / found.insPerGroup * columns;
            for (int column = 0; column < columns; column++) {
                if (!found.isZero(row, column * found.inner)) {
                    found.read[outsFirst ? i : first + column].set(outsFirst ? first + column : i);
                }
            }
        }
        return found;
    }

    /**
     * Some of these weights, which are not looked through again; not of a grouped convolution.
     *
     * @param smaller what {@link #between} gave for the same channels
     */
    LayerWeights some(Tensor smaller, int[] someOuts, int[] someIns) {
        if (smaller == weight) {
            return this;
        }
        LayerWeights found = new LayerWeights(rule, smaller);
        BitSet wanted = Kept.bits(someIns);
        for (int out = 0; out < someOuts.length; out++) {
            BitSet had = (BitSet) read[someOuts[out]].clone();
            had.and(wanted);
            if (had.cardinality() == someIns.length) { // most layers read all that is left
                found.read[out].set(0, someIns.length);
                continue;
            }
            for (int in = 0; in < someIns.length; in++) {
                found.read[out].set(in, had.get(someIns[in]));
            }
        }
        return found;
    }

    /** The same weights where they are read in the same way; empty if they are not. */
    Optional<LayerWeights> as(Product other) {
        boolean same =
                rule.outAxis() == other.outAxis() && rule.inAxis() == other.inAxis() && rule.groups() == other.groups();
        return same ? Optional.of(this) : Optional.empty();
    }

    Tensor weight() {
        return weight;
    }

    private boolean isZero(float[] row, int start) {
        for (int i = start; i < start + inner; i++) {
            if (row[i] != 0) {
                return false;
            }
        }
        return true;
    }

    /** Where the weights between an output channel and an input channel of its group are. */
    private long start(int out, int in) {
        return rule.outAxis() == 0
                ? (long) out * outStride + (long) in * inStride
                : (long) out % (outs / rule.groups()) * outStride + (long) (firstIn(out) + in) * inStride;
    }

    private int firstIn(int out) {
        return out / (outs / rule.groups()) * insPerGroup;
    }

    /** The input channels that an output channel reads with a weight that is not zero. */
    BitSet read(int out) {
        return read[out];
    }

    /** The sum of all weights between two channels: what a constant of one is worth. */
    double sum(int out, int in) {
        float[] values = new float[inner];
        weight.read(start(out, in - firstIn(out)), values);
        double sum = 0;
        for (float value : values) {
            sum += value;
        }
        return sum;
    }

    /** The groups that some output channels belong to. */
    List<Integer> groups(int[] some) {
        return Arrays.stream(some)
                .map(out -> out / (outs / rule.groups()))
                .distinct()
                .boxed()
                .toList();
    }

    /**
     * The weights between some channels, as their tensor has them. Of a grouped convolution there are equally many in each group.
     */
    Tensor between(Tensor weight, int[] someOuts, int[] someIns) {
        if (rule.groups() == 1) {
            return Slices.take(Slices.take(weight, rule.outAxis(), someOuts), rule.inAxis(), someIns);
        }
        // The first axis has the channels of all groups, the second those within each.
        boolean outsFirst = rule.outAxis() == 0;
        int[] rows = outsFirst ? someOuts : someIns;
        int[] columns = outsFirst ? someIns : someOuts;
        int left = groups(someOuts).size();
        int perGroup = columns.length / left;
        int within = outsFirst ? insPerGroup : outs / rule.groups();
        int[][] places = new int[rows.length][perGroup];
        for (int row = 0; row < rows.length; row++) {
            int group = row / (rows.length / left);
            for (int i = 0; i < perGroup; i++) {
                places[row][i] = columns[group * perGroup + i] % within;
            }
        }
        return Slices.take(weight, rows, places);
    }

    /** How many weights there are between two channels: the places of a window. */
    int inner() {
        return inner;
    }

    int outs() {
        return outs;
    }

    int insPerGroup() {
        return insPerGroup;
    }
}
