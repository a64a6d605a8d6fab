package dev.espalier.runtime;

import dev.espalier.graph.Graph;
import dev.espalier.graph.GraphException;
import dev.espalier.graph.Initializer;
import dev.espalier.graph.onnx.OnnxWriter;
import dev.espalier.graph.prune.Equivalence;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * A model whose weights that are all but zero are zero. A processor takes many times as long to compute with subnormal floats, those
 * below 2⁻¹²⁶: half of the weights of a small convolutional network times 1e-40 made it 40 times slower. Weights that are a little
 * larger are no better where their products with activations are subnormal. So everything below 2⁻¹⁰⁰ is flushed, if the outputs in
 * ONNX Runtime stay within the usual tolerance; else what is subnormal; else nothing.
 *
 * @param graph the model
 * @param flushed how many weights became zero
 * @param subnormal how many of them were subnormal
 * @param difference by how much the outputs differ at most from those of the original
 */
public record FlushedModel(Graph graph, long flushed, long subnormal, double difference) {
    /** Times an activation of 1e-8, a weight of this size is still a normal float. */
    static final double SMALL = 0x1p-100;

    private static final List<Double> LIMITS = List.of(SMALL, (double) Float.MIN_NORMAL);

    /**
     * Counts weights that may be flushed.
     *
     * @param model a model
     * @return the number of its float32 weights below 2⁻¹⁰⁰ that are not zero
     */
    public static long count(Graph model) {
        return count(model, SMALL);
    }

    /**
     * Flushes weights to zero, and compares.
     *
     * @param model a model
     * @param judge runs the original of it
     * @return the model, the same if nothing was or could be flushed
     */
    public static FlushedModel of(Graph model, Judge judge) {
        for (double limit : LIMITS) {
            long flushed = count(model, limit);
            if (flushed > 0) {
                Graph candidate = flush(model, limit);
                try {
                    Equivalence found = judge.doubted(judge.compare(candidate, OnnxWriter.Options.DEFAULT), model);
                    if (found.problem(Equivalence.tolerance(model)).isEmpty()) {
                        return new FlushedModel(candidate, flushed, count(model, Float.MIN_NORMAL), found.absolute());
                    }
                } catch (GraphException | IllegalStateException _) {
                    // Then as little as possible is changed.
                }
            }
        }
        return new FlushedModel(model, 0, 0, 0);
    }

    /** {@return what was done, as a sentence; empty if nothing was} */
    public Optional<String> words() {
        return flushed == 0
                ? Optional.empty()
                : Optional.of(String.format(
                        Locale.ROOT,
                        "%,d weights below %.1e were set to zero, %,d of them subnormal, which processors are slow at; outputs in ONNX Runtime differ by at most %.2g",
                        flushed,
                        SMALL,
                        subnormal,
                        difference));
    }

    /** Constants stay: what a logarithm or a quotient is kept away from zero by is meant to be small. */
    private static boolean isWeight(Initializer initializer) {
        return initializer.kind() != Initializer.Kind.CONSTANT
                && initializer.tensor().type() == DataType.FLOAT32
                && initializer.tensor().size() > 1;
    }

    private static boolean isBelow(double weight, double limit) {
        return weight != 0 && Math.abs(weight) < limit;
    }

    private static long count(Tensor tensor, double limit) {
        long count = 0;
        for (long i = 0; i < tensor.size(); i++) {
            if (isBelow(tensor.getDouble(i), limit)) {
                count++;
            }
        }
        return count;
    }

    private static long count(Graph model, double limit) {
        return model.initializers().values().stream()
                .filter(FlushedModel::isWeight)
                .mapToLong(initializer -> count(initializer.tensor(), limit))
                .sum();
    }

    private static Graph flush(Graph model, double limit) {
        Map<String, Tensor> changed = new TreeMap<>();
        model.initializers().forEach((name, initializer) -> {
            Tensor tensor = initializer.tensor();
            if (isWeight(initializer) && count(tensor, limit) > 0) {
                changed.put(
                        name,
                        Tensor.compute(
                                DataType.FLOAT32,
                                tensor.shape(),
                                i -> isBelow(tensor.getDouble(i), limit) ? 0 : tensor.getDouble(i)));
            }
        });
        return model.withTensors(changed);
    }
}
