package dev.espalier.graph.prune;

import dev.espalier.graph.prune.Rule.Product;
import dev.espalier.graph.type.Tensor;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;

/** The weights of a layer, asked by channels: which input channels does an output channel read, and with what sum? */
final class LayerWeights {
    private final Product rule;
    private final float[] values;
    private final int outs;
    private final int insPerGroup;
    private final int outStride;
    private final int inStride;
    private final int inner;
    private final BitSet[] read;

    LayerWeights(Product rule, Tensor weight) {
        this.rule = rule;
        long[] shape = weight.shape();
        values = weight.toFloats();
        // Of a convolution [out, in / groups, …], its transpose [in, out / groups, …], a linear layer [out, in] or [in,
        // out].
        boolean outsFirst = rule.outAxis() == 0;
        outs = (int) shape[rule.outAxis()] * (outsFirst ? 1 : rule.groups());
        insPerGroup = (int) shape[rule.inAxis()] / (outsFirst ? 1 : rule.groups());
        inner = values.length / Math.max(outs * insPerGroup, 1);
        outStride = outsFirst ? insPerGroup * inner : inner;
        inStride = outsFirst ? inner : (int) shape[rule.outAxis()] * inner;
        read = new BitSet[outs];
        Arrays.setAll(read, _ -> new BitSet());
        // As the memory lies: across it, wide layers are several times as slow.
        if (outsFirst) {
            for (int out = 0; out < outs; out++) {
                for (int in = 0; in < insPerGroup; in++) {
                    note(out, in);
                }
            }
        } else {
            for (int in = 0; in < insPerGroup; in++) {
                for (int out = 0; out < outs; out++) {
                    note(out, in);
                }
            }
        }
    }

    private void note(int out, int in) {
        if (!isZero(out, in)) {
            read[out].set(firstIn(out) + in);
        }
    }

    private boolean isZero(int out, int in) {
        int start = start(out, in);
        for (int i = 0; i < inner; i++) {
            if (values[start + i] != 0) {
                return false;
            }
        }
        return true;
    }

    /** Where the weights between an output channel and an input channel of its group are. */
    private int start(int out, int in) {
        return rule.outAxis() == 0
                ? out * outStride + in * inStride
                : out % (outs / rule.groups()) * outStride + (firstIn(out) + in) * inStride;
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
        int start = start(out, in - firstIn(out));
        double sum = 0;
        for (int i = 0; i < inner; i++) {
            sum += values[start + i];
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
