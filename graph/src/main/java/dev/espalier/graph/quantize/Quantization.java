package dev.espalier.graph.quantize;

import dev.espalier.core.check.Check;
import dev.espalier.graph.Graph;
import dev.espalier.graph.op.Conv;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * An int8 model that was made of a float model. It is there to be written and run by others: {@code OnnxReader} reads it as a float
 * model again.
 *
 * @param graph the int8 model; of the same inputs and outputs
 * @param matrices how many matrices have become codes
 * @param tables how many tables that rows are looked up in
 * @param convolutions how many convolutions
 * @param left what is left in fractions, a line each with the reason
 */
public record Quantization(Graph graph, int matrices, int tables, int convolutions, List<String> left) {

    /** How many bits a weight's codes have if nobody says so. */
    public static final int BITS = 8;

    /** Takes a copy. */
    public Quantization {
        left = List.copyOf(left);
    }

    /**
     * How models are quantised.
     *
     * @param bits how many bits the codes of weights use, 8 or 7. With 7, sums of two products fit into sixteen bits: processors of
     *     x86-64 without VNNI cut them off there
     * @param floats the names of convolutions that are left as they are
     */
    public record Options(int bits, Set<String> floats) {
        /** All bits, all convolutions. */
        public static final Options DEFAULT = new Options(BITS, Set.of());

        /** Checks the bits. */
        public Options {
            Check.atLeast("bits", bits, 7);
            Check.atMost("bits", bits, 8);
            floats = Set.copyOf(floats);
        }

        /**
         * {@return the same with other convolutions left as they are}
         *
         * @param others their names
         */
        public Options leaving(Set<String> others) {
            return new Options(bits, others);
        }

        private int largest() {
            return bits == 8 ? 127 : 64;
        }
    }

    /**
     * Dynamic quantisation: products with constant matrices, and tables. Nothing has to be known of the inputs.
     *
     * @param graph a float model
     * @param options how
     * @return the int8 model
     */
    public static Quantization dynamic(Graph graph, Options options) {
        return matrices(
                graph,
                options,
                0,
                graph.nodes().stream()
                        .filter(node -> node.operator() instanceof Conv)
                        .map(node ->
                                node.name() + ": a convolution is quantised by what it reads, which was not measured")
                        .toList());
    }

    /**
     * The same, and convolutions with what flows between them, which is rounded in ranges that were measured.
     *
     * @param graph a float model
     * @param ranges of all tensors that {@link #measured} tells, by their names
     * @param options how
     * @return the int8 model
     */
    public static Quantization calibrated(Graph graph, Map<String, Range> ranges, Options options) {
        Convolutions convolutions =
                new Convolutions(FoldedScales.fold(graph), ranges, options.floats(), options.largest());
        Graph rounded = convolutions.run();
        return matrices(rounded, options, convolutions.convolutions(), convolutions.left());
    }

    private static Quantization matrices(Graph graph, Options options, int convolutions, List<String> before) {
        Matrices matrices = new Matrices(graph, options.largest());
        Graph made = matrices.run();
        List<String> left = new ArrayList<>(before);
        left.addAll(matrices.left());
        return new Quantization(made, matrices.matrices(), matrices.tables(), convolutions, left);
    }

    /**
     * The tensors whose ranges convolutions are quantised by.
     *
     * @param graph a float model
     * @return their names
     */
    public static Set<String> measured(Graph graph) {
        return Convolutions.measured(FoldedScales.fold(graph));
    }

    /**
     * The convolutions that can be quantised.
     *
     * @param graph a float model
     * @return the names of their nodes
     */
    public static List<String> convolutions(Graph graph) {
        return Convolutions.candidates(FoldedScales.fold(graph));
    }
}
