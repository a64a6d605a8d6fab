package dev.espalier.graph.prune;

import dev.espalier.graph.Graph;
import dev.espalier.graph.Initializer;
import dev.espalier.graph.Node;
import dev.espalier.graph.eval.Evaluator;
import dev.espalier.graph.prune.Rule.Carried;
import dev.espalier.graph.prune.Rule.Mapping;
import dev.espalier.graph.prune.Rule.Opaque;
import dev.espalier.graph.prune.Rule.ShapeOnly;
import dev.espalier.graph.prune.Rule.Written;
import dev.espalier.graph.type.Dimension;
import dev.espalier.graph.type.Shape;
import dev.espalier.graph.type.Tensor;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * A node in its place, for which a rule is looked for, and the rules that many operators have.
 *
 * @param graph the graph it is in
 * @param node the node
 * @param before the channels of every tensor that is made before it
 */
record Site(Graph graph, Node node, Function<String, Channels> before) {

    Shape shape(int input) {
        return graph.shape(node.input(input));
    }

    Shape outputShape() {
        return graph.shape(node.output());
    }

    Channels channels(int input) {
        return before.apply(node.input(input));
    }

    int inputs() {
        return node.inputs().size();
    }

    boolean isWeight(int input) {
        return graph.tensor(node.input(input)) != null;
    }

    /** Whether an input is a weight that is trained. */
    boolean isParameter(int input) {
        Initializer initializer = graph.initializers().get(node.input(input));
        return initializer != null
                && initializer.kind() == Initializer.Kind.PARAMETER
                && initializer.tensor().type().isFloat();
    }

    /** Whatever it does: the tensors stay whole. */
    Rule opaque() {
        return opaque(Collections.nCopies(node.outputs().size(), Channels.NONE));
    }

    Rule opaque(List<Channels> outputs) {
        return new Opaque(whole(), outputs);
    }

    Rule shapeOnly() {
        return new ShapeOnly(whole(), List.of(Channels.NONE));
    }

    private List<Channels> whole() {
        return Collections.nCopies(inputs(), Channels.NONE);
    }

    /** One input, one output, the same axes. */
    Rule sameAxes(Carried carried) {
        Channels input = channels(0);
        return input.none() ? opaque() : mapping(input, input, input.all(), carried, Written.AS_IT_IS);
    }

    /** The first input has channels; what is behind it, weights or a shape, is read whole. */
    Rule mapping(Channels input, Channels output, int[] map, Carried carried, Written written) {
        List<Channels> seen = new ArrayList<>(whole());
        seen.set(0, input);
        int[][][] maps = new int[inputs()][1][];
        maps[0][0] = map;
        return new Mapping(seen, List.of(output), maps, carried, written);
    }

    /** The axes that the inputs have channels along, counted as the output counts them; in the order of the richest. */
    List<Integer> axesOfOutput(int rank) {
        List<Integer> axes = new ArrayList<>();
        for (int i = 0; i < inputs(); i++) {
            if (node.has(i)) {
                int shift = rank - shape(i).rank();
                List<Integer> own =
                        channels(i).axes().stream().map(axis -> axis + shift).toList();
                if (own.size() > axes.size()) {
                    own = new ArrayList<>(own);
                    List<Integer> more = own;
                    axes.stream().filter(axis -> !more.contains(axis)).forEach(own::add);
                    axes = own;
                } else {
                    List<Integer> known = axes;
                    own.stream().filter(axis -> !known.contains(axis)).forEach(axes::add);
                }
            }
        }
        return axes;
    }

    /** Whether a shape that is an input tells the lengths along channels in numbers, so that fewer can be asked for. */
    boolean tellsLengths(int input, Channels channels) {
        List<Dimension> told = graph.fact(node.input(input)).elements();
        return told != null
                && IntStream.range(0, channels.axes().size())
                        .allMatch(i -> channels.axes().get(i) < told.size()
                                && told.get(channels.axes().get(i))
                                        .is(channels.lengths().get(i)));
    }

    /** What the operator makes of constants: of one element of each input. */
    double evaluate(double[] operands) {
        List<@Nullable Tensor> scalars = new ArrayList<>();
        for (int i = 0; i < operands.length; i++) {
            if (Double.isNaN(operands[i])) {
                return Rule.VARIES;
            }
            scalars.add(Tensor.scalar(graph.fact(node.input(i)).data(), operands[i]));
        }
        List<Tensor> results = Evaluator.evaluate(node.operator(), scalars);
        return results == null ? Rule.VARIES : results.getFirst().getDouble(0);
    }
}
