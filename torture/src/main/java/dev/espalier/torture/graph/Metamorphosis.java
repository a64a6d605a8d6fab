package dev.espalier.torture.graph;

import dev.espalier.graph.Graph;
import dev.espalier.graph.Initializer;
import dev.espalier.graph.Node;
import dev.espalier.graph.op.Binary;
import dev.espalier.graph.op.Concat;
import dev.espalier.graph.op.Conv;
import dev.espalier.graph.op.Elementwise.Unary;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import dev.espalier.torture.graph.RandomGraph.Hidden;
import dev.espalier.torture.graph.RandomGraph.Place;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SequencedMap;
import java.util.function.LongUnaryOperator;
import java.util.random.RandomGenerator;

/** Ways to write a model otherwise: the same function, and as much of it is needed. */
enum Metamorphosis {
    /** The units of a hidden layer in another order. */
    PERMUTED {
        @Override
        Graph apply(Graph graph, Hidden hidden, RandomGenerator random) {
            int units = (int)
                    weight(graph, hidden).shape()[hidden.places().getFirst().axis()];
            List<Integer> order = new Draft(random).order(units);
            Map<String, Tensor> changed = new HashMap<>();
            for (Place place : hidden.places()) {
                Tensor before = changed.getOrDefault(place.tensor(), tensor(graph, place.tensor()));
                changed.put(place.tensor(), select(before, place.axis(), units, i -> order.get((int) i)));
            }
            return graph.withTensors(changed);
        }
    },

    /** A hidden layer as two layers with some of its units each. */
    SPLIT {
        @Override
        Graph apply(Graph graph, Hidden hidden, RandomGenerator random) {
            int axis = hidden.places().getFirst().axis();
            int units = (int) weight(graph, hidden).shape()[axis];
            if (units == 1) {
                return graph;
            }
            int first = random.nextInt(1, units);
            Node layer = graph.uses(hidden.weight()).getFirst().node();
            SequencedMap<String, Initializer> initializers = new LinkedHashMap<>(graph.initializers());
            List<Node> nodes = new ArrayList<>(graph.nodes());
            nodes.remove(layer);
            List<String> parts = new ArrayList<>();
            for (int part = 0; part < 2; part++) {
                int from = part * first;
                int length = part == 0 ? first : units - first;
                String suffix = ".part" + part;
                List<String> inputs = new ArrayList<>(layer.inputs());
                for (int i = 1; i < inputs.size(); i++) {
                    Tensor whole = tensor(graph, inputs.get(i));
                    Tensor piece = select(whole, i == 1 ? axis : 0, length, unit -> from + unit);
                    inputs.set(i, inputs.get(i) + suffix);
                    initializers.put(inputs.get(i), new Initializer(piece, Initializer.Kind.PARAMETER));
                }
                parts.add(layer.output() + suffix);
                nodes.add(new Node(layer.name() + suffix, layer.operator(), inputs, List.of(layer.output() + suffix)));
            }
            layer.inputs().stream().skip(1).forEach(initializers::remove);
            nodes.add(new Node(layer.name(), new Concat(hidden.axis()), parts, layer.outputs()));
            return graph.with(initializers, nodes);
        }
    },

    /** More layers beside a hidden one, the last of which has no weight but zeros. */
    DEAD_BRANCH {
        @Override
        Graph apply(Graph graph, Hidden hidden, RandomGenerator random) {
            Node layer = graph.uses(hidden.weight()).getFirst().node();
            Tensor weight = weight(graph, hidden);
            int units = (int) weight.shape()[hidden.places().getFirst().axis()];
            SequencedMap<String, Initializer> initializers = new LinkedHashMap<>(graph.initializers());
            List<Node> nodes = new ArrayList<>(graph.nodes());
            String name = layer.name();
            Tensor other = Tensor.compute(DataType.FLOAT32, weight.shape(), i -> random.nextDouble() - 0.5);
            initializers.put(name + ".w1", new Initializer(other, Initializer.Kind.PARAMETER));
            long[] square = weight.shape();
            Arrays.fill(square, 1);
            square[0] = units;
            square[1] = units;
            Tensor zeros = Tensor.compute(DataType.FLOAT32, square, i -> 0);
            initializers.put(name + ".w2", new Initializer(zeros, Initializer.Kind.PARAMETER));
            nodes.add(new Node(
                    name + ".first",
                    layer.operator(),
                    List.of(layer.input(0), name + ".w1"),
                    List.of(name + ".first")));
            nodes.add(new Node(
                    name + ".relu", new Unary(Unary.Function.RELU), List.of(name + ".first"), List.of(name + ".relu")));
            nodes.add(new Node(
                    name + ".second",
                    layer.operator() instanceof Conv conv
                            ? new Conv(Blocks.windows(conv.windows().axes(), 0), 1)
                            : layer.operator(),
                    List.of(name + ".relu", name + ".w2"),
                    List.of(name + ".second")));
            nodes.remove(layer);
            nodes.add(new Node(name + ".alive", layer.operator(), layer.inputs(), List.of(name + ".alive")));
            nodes.add(new Node(
                    name,
                    new Binary(Binary.Function.ADD),
                    List.of(name + ".alive", name + ".second"),
                    layer.outputs()));
            return graph.with(initializers, nodes);
        }
    };

    /** The model written otherwise; the very same if it cannot be. */
    abstract Graph apply(Graph graph, Hidden hidden, RandomGenerator random);

    /**
     * Whether a unit that is left carries a constant, as one does that a border of zeros tells apart, or the only one of a layer. It
     * has inputs for the sake of its neighbours, and how many depends on how it is written; but not on the order.
     */
    boolean isConstant(Graph pruned, Hidden hidden) {
        Tensor left = pruned.tensor(hidden.weight());
        if (this == PERMUTED || left == null) {
            return false;
        }
        int axis = hidden.places().getFirst().axis();
        long stride = Draft.stride(left.shape(), axis);
        boolean[] used = new boolean[(int) left.shape()[axis]];
        for (long i = 0; i < left.size(); i++) {
            used[(int) (i / stride % used.length)] |= left.getDouble(i) != 0;
        }
        for (boolean unit : used) {
            if (!unit) {
                return true;
            }
        }
        return false;
    }

    private static Tensor weight(Graph graph, Hidden hidden) {
        return tensor(graph, hidden.weight());
    }

    private static Tensor tensor(Graph graph, String name) {
        return Objects.requireNonNull(graph.tensor(name));
    }

    /** Some positions along an axis. */
    private static Tensor select(Tensor tensor, int axis, int length, LongUnaryOperator position) {
        long[] shape = tensor.shape();
        long before = shape[axis];
        long stride = Draft.stride(shape, axis);
        shape[axis] = length;
        return Tensor.compute(tensor.type(), shape, i -> {
            long outer = i / stride / length;
            long unit = i / stride % length;
            return tensor.getDouble((outer * before + position.applyAsLong(unit)) * stride + i % stride);
        });
    }
}
