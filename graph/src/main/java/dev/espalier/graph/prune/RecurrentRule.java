package dev.espalier.graph.prune;

import dev.espalier.graph.Graph;
import dev.espalier.graph.Node;
import dev.espalier.graph.op.Concat;
import dev.espalier.graph.op.ConstantOfShape;
import dev.espalier.graph.op.Elementwise.Cast;
import dev.espalier.graph.op.Elementwise.Unary;
import dev.espalier.graph.op.Expand;
import dev.espalier.graph.op.Gather;
import dev.espalier.graph.op.Recurrent;
import dev.espalier.graph.op.Recurrent.Direction;
import dev.espalier.graph.op.Reshape;
import dev.espalier.graph.op.Slice;
import dev.espalier.graph.op.Squeeze;
import dev.espalier.graph.op.Tile;
import dev.espalier.graph.op.Transpose;
import dev.espalier.graph.op.Unsqueeze;
import dev.espalier.graph.prune.Rule.Recurrence;
import dev.espalier.graph.type.Tensor;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Recurrent layers. The channels of what they make are hidden units, of both directions one after the other; there must be equally
 * many of both in the end, unless a direction goes as a whole.
 */
final class RecurrentRule {
    private static final int WEIGHTS = 1;
    private static final int BACK = 2;
    private static final int BIAS = 3;

    private RecurrentRule() {}

    static Rule of(Site site, Recurrent recurrent) {
        Channels sequence = Channels.along(site.shape(0), 2);
        Node node = site.node();
        boolean weights = IntStream.of(WEIGHTS, BACK, BIAS, Recurrent.PEEPHOLES)
                .allMatch(input -> !node.has(input) || site.isWeight(input));
        if (sequence.none() || !weights) {
            return site.opaque();
        }
        boolean both = recurrent.directions() == 2;
        List<Channels> inputs = new ArrayList<>(Collections.nCopies(site.inputs(), Channels.NONE));
        inputs.set(0, sequence);
        for (int input : new int[] {Recurrent.STATES, Recurrent.CELLS}) {
            if (node.has(input)) {
                inputs.set(input, Channels.along(site.shape(input), both ? List.of(0, 2) : List.of(2)));
            }
        }
        List<Channels> outputs = new ArrayList<>();
        for (int i = 0; i < node.outputs().size(); i++) {
            String output = node.outputs().get(i);
            List<Integer> axes = i == 0 ? List.of(1, 3) : List.of(0, 2);
            outputs.add(
                    output.isEmpty()
                            ? Channels.NONE
                            : Channels.along(site.graph().shape(output), both ? axes : axes.subList(1, 2)));
        }
        return new Recurrence(inputs, outputs, recurrent);
    }

    /** The units whose state and cell are zero in the beginning. */
    static BitSet zeroAtFirst(Graph graph, Node node, Recurrent recurrent) {
        BitSet zero = new BitSet();
        zero.set(0, recurrent.directions() * (int) recurrent.hidden());
        for (int input : new int[] {Recurrent.STATES, Recurrent.CELLS}) {
            Tensor first = graph.tensor(node.input(input));
            if (first != null) {
                int batch = (int) first.shape()[1];
                int hidden = (int) recurrent.hidden();
                for (int i = 0; i < first.size(); i++) {
                    if (first.getDouble(i) != 0) {
                        zero.clear(i / (batch * hidden) * hidden + i % hidden);
                    }
                }
            } else if (!startsAtZero(graph, node, input)) {
                zero.clear();
            }
        }
        return zero;
    }

    /** Whether a layer begins with zeros: none are given, or somebody makes them. */
    static boolean startsAtZero(Graph graph, Node node, int input) {
        return !node.has(input) || isZero(graph, node.input(input));
    }

    /** Whether a tensor is nothing but zeros, as exporters make them for as many sequences as there are. */
    private static boolean isZero(Graph graph, String tensor) {
        Tensor known = graph.tensor(tensor);
        if (known != null) {
            return IntStream.range(0, (int) known.size()).allMatch(i -> known.getDouble(i) == 0);
        }
        Node producer = graph.producer(tensor);
        if (producer == null) {
            return false;
        }
        return switch (producer.operator()) {
            case ConstantOfShape filled -> filled.value().getDouble(0) == 0;
            case Expand _, Tile _, Reshape _, Transpose _, Squeeze _, Unsqueeze _, Slice _, Gather _, Cast _ ->
                isZero(graph, producer.input(0));
            case Unary(Unary.Function function)
            when function == Unary.Function.IDENTITY -> isZero(graph, producer.input(0));
            case Concat _ -> producer.inputs().stream().allMatch(part -> isZero(graph, part));
            // Whatever is computed may be anything.
            default -> false;
        };
    }

    /** Which units of each direction that is left are left. */
    @SuppressWarnings("ArrayRecordComponent") // nobody compares these records
    private record Left(List<Integer> directions, int[][] units) {

        static Left of(Recurrent recurrent, BitSet kept) {
            int hidden = (int) recurrent.hidden();
            List<Integer> directions = IntStream.range(0, recurrent.directions())
                    .filter(direction -> !kept.get(direction * hidden, (direction + 1) * hidden)
                            .isEmpty())
                    .boxed()
                    .toList();
            int[][] units = directions.stream()
                    .map(direction -> kept.get(direction * hidden, (direction + 1) * hidden).stream()
                            .toArray())
                    .toArray(int[][]::new);
            return new Left(directions, units);
        }

        int hidden() {
            return units[0].length;
        }

        /**
         * What is left of {@code [directions, blocks, hidden, columns]}.
         *
         * @param shape what comes out, by its own axes
         * @param columns which columns are left, for each direction that is
         */
        Tensor cut(Tensor tensor, int blocks, int hiddenBefore, int[][] columns, long... shape) {
            int width = (int) (tensor.size() / tensor.shape()[0] / blocks / hiddenBefore);
            return Tensor.compute(tensor.type(), shape, index -> {
                long rest = index;
                int column = (int) (rest % columns[0].length);
                rest /= columns[0].length;
                int unit = (int) (rest % hidden());
                rest /= hidden();
                int block = (int) (rest % blocks);
                int direction = (int) (rest / blocks);
                long row = ((long) directions.get(direction) * blocks + block) * hiddenBefore + units[direction][unit];
                return tensor.getDouble(row * width + columns[direction][column]);
            });
        }

        Tensor cut(Tensor tensor, int blocks, int hiddenBefore, long... shape) {
            return cut(tensor, blocks, hiddenBefore, same(0), shape);
        }

        int[][] same(int... columns) {
            return directions.stream().map(direction -> columns).toArray(int[][]::new);
        }
    }

    /** Writes the layer with the units and inputs that are left. */
    static void write(Rewriter rewriter, Node node, Recurrence rule, BitSet kept, int[] ins) {
        Recurrent recurrent = rule.operator();
        Left left = Left.of(recurrent, kept);
        int gates = recurrent.cell().gates();
        int hidden = (int) recurrent.hidden();
        long both = left.directions().size();
        long units = left.hidden();
        List<String> inputs = new ArrayList<>(node.inputs());
        inputs.set(0, rewriter.pick(node.input(0), rule.inputs().getFirst(), ins));
        Tensor fed = rewriter.weight(node, WEIGHTS);
        Tensor back = rewriter.weight(node, BACK);
        boolean whole = kept.cardinality() == recurrent.directions() * hidden;
        boolean allInputs = whole && ins.length == fed.shape()[2];
        inputs.set(
                WEIGHTS,
                rewriter.stored(
                        node,
                        WEIGHTS,
                        allInputs
                                ? fed
                                : left.cut(fed, gates, hidden, left.same(ins), both, gates * units, ins.length)));
        inputs.set(
                BACK,
                rewriter.stored(
                        node,
                        BACK,
                        whole ? back : left.cut(back, gates, hidden, left.units(), both, gates * units, units)));
        writeBias(rewriter, node, rule, left, ins, inputs);
        if (node.has(Recurrent.LENGTHS)) {
            inputs.set(Recurrent.LENGTHS, rewriter.input(node, rule, Recurrent.LENGTHS));
        }
        for (int input : new int[] {Recurrent.STATES, Recurrent.CELLS}) {
            if (node.has(input)) {
                inputs.set(input, first(rewriter, node, rule, left, whole, input));
            }
        }
        if (node.has(Recurrent.PEEPHOLES)) {
            Tensor peepholes = rewriter.weight(node, Recurrent.PEEPHOLES);
            inputs.set(
                    Recurrent.PEEPHOLES,
                    rewriter.stored(
                            node,
                            Recurrent.PEEPHOLES,
                            whole ? peepholes : left.cut(peepholes, 3, hidden, both, 3 * units)));
        }
        while (inputs.getLast().isEmpty()) {
            inputs.removeLast();
        }
        Recurrent smaller = new Recurrent(recurrent.cell(), direction(recurrent, left.directions()), units);
        rewriter.add(new Node(node.name(), smaller, inputs, node.outputs()));
    }

    private static Direction direction(Recurrent recurrent, List<Integer> left) {
        return left.size() == recurrent.directions()
                ? recurrent.direction()
                : recurrent.isReverse(left.getFirst()) ? Direction.REVERSE : Direction.FORWARD;
    }

    /** The first states: none where they are zero, weights or a selection otherwise. */
    private static String first(Rewriter rewriter, Node node, Recurrence rule, Left left, boolean whole, int input) {
        if (rewriter.needed(node, input) != null) {
            return rewriter.input(node, rule, input);
        }
        if (!rewriter.isWeight(node, input)) {
            return "";
        }
        Tensor states = rewriter.weight(node, input);
        int batch = (int) states.shape()[1];
        Tensor cut = left.cut(
                states, batch, (int) rule.operator().hidden(), left.directions().size(), batch, left.hidden());
        return rewriter.stored(node, input, whole ? states : cut);
    }

    /** With what constant inputs added to each gate. */
    private static void writeBias(
            Rewriter rewriter, Node node, Recurrence rule, Left left, int[] ins, List<String> inputs) {
        Recurrent recurrent = rule.operator();
        int gates = recurrent.cell().gates();
        int hidden = (int) recurrent.hidden();
        double[] constants = rewriter.constants(node, 0, rule);
        BitSet folded = Kept.bits(IntStream.range(0, constants.length)
                .filter(in -> !Double.isNaN(constants[in]) && constants[in] != 0)
                .toArray());
        folded.andNot(Kept.bits(ins));
        long both = left.directions().size();
        long[] shape = {both, 2L * gates * left.hidden()};
        Tensor old = node.has(BIAS) ? left.cut(rewriter.weight(node, BIAS), 2 * gates, hidden, shape) : null;
        if (old == null && folded.isEmpty()) {
            return;
        }
        RecurrentUnits weights = rewriter.units(node, rule);
        Tensor bias = Tensor.compute(rewriter.weight(node, WEIGHTS).type(), shape, index -> {
            int unit = (int) (index % left.hidden());
            int block = (int) (index / left.hidden()) % (2 * gates);
            int place = (int) (index / left.hidden() / (2L * gates));
            int before = left.directions().get(place) * hidden + left.units()[place][unit];
            double shift = block < gates ? weights.folded(before, block, constants, folded) : 0;
            return (old == null ? 0 : old.getDouble(index)) + shift;
        });
        while (inputs.size() <= BIAS) {
            inputs.add("");
        }
        inputs.set(BIAS, old == null ? rewriter.put(node.name() + ".bias", bias) : rewriter.stored(node, BIAS, bias));
    }
}
