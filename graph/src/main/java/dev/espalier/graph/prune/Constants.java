package dev.espalier.graph.prune;

import dev.espalier.graph.Graph;
import dev.espalier.graph.Node;
import dev.espalier.graph.prune.Rule.Contraction;
import dev.espalier.graph.prune.Rule.Mapping;
import dev.espalier.graph.prune.Rule.Opaque;
import dev.espalier.graph.prune.Rule.Product;
import dev.espalier.graph.prune.Rule.Recurrence;
import dev.espalier.graph.prune.Rule.ShapeOnly;
import dev.espalier.graph.prune.Rule.Sum;
import dev.espalier.graph.type.Tensor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * From front to back: which channels carry the same number whatever is fed in. A channel whose incoming weights are all
 * zero does, and what element-wise operators make of it. Not-a-number stands for a channel that carries no constant.
 */
final class Constants {
    private final Graph graph;
    private final Flow flow;
    private final Map<String, double[]> values = new HashMap<>();
    private final Map<Tensor, LayerWeights> known;
    private final Map<Node, LayerWeights> weights = new ConcurrentHashMap<>();
    private final Map<Node, RecurrentUnits> units = new HashMap<>();
    private final Map<Node, BitSet> zeroUnits = new HashMap<>();
    /** The channels that do not depend on what is fed in, whether they carry one number or several. */
    private final Map<String, BitSet> independent = new HashMap<>();

    private final Set<String> entirely = new HashSet<>();

    /**
     * The constants of a graph.
     *
     * @param graph the graph
     * @param flow how channels flow through it
     * @param known weights that need not be looked through again
     */
    Constants(Graph graph, Flow flow, Map<Tensor, LayerWeights> known) {
        this.graph = graph;
        this.flow = flow;
        this.known = known;
        // All at once: of a large model, looking through the weights takes longest.
        graph.nodes().parallelStream().forEach(this::lookThrough);
        graph.nodes().forEach(this::visit);
    }

    private void lookThrough(Node node) {
        if (flow.ruleOf(node) instanceof Product product && graph.tensor(node.input(1)) != null) {
            weights(node, product);
        }
    }

    private void visit(Node node) {
        Rule rule = flow.ruleOf(node);
        for (int i = 0; i < node.outputs().size(); i++) {
            Channels channels = rule.outputs().get(i);
            if (!channels.none()) {
                values.put(node.outputs().get(i), compute(node, rule, i, channels));
            }
        }
        boolean fromConstants = !(rule instanceof ShapeOnly)
                && !node.inputs().isEmpty()
                && node.inputs().stream().allMatch(this::isConstant);
        for (int i = 0; i < node.outputs().size(); i++) {
            String output = node.outputs().get(i);
            Channels channels = rule.outputs().get(i);
            BitSet free = independent(node, rule, i);
            independent.put(output, free);
            if (fromConstants || (!channels.none() && free.cardinality() == channels.count())) {
                entirely.add(output);
            }
        }
    }

    private BitSet independent(Node node, Rule rule, int output) {
        BitSet free = new BitSet();
        double[] known = values.get(node.outputs().get(output));
        if (known == null) {
            return free;
        }
        List<BitSet> inputs = freeInputs(node, rule, output);
        for (int channel = 0; channel < known.length; channel++) {
            boolean fromFree = switch (rule) {
                case Mapping mapping -> allFree(node, mapping, inputs, output, channel);
                case Product product -> {
                    BitSet read = (BitSet) weights(node, product).read(channel).clone();
                    read.andNot(inputs.getFirst());
                    yield read.isEmpty();
                }
                case Contraction c -> false;
                case Recurrence r -> false;
                case Sum s -> false;
                case Opaque o -> false;
                case ShapeOnly s -> false;
            };
            free.set(channel, fromFree || !Double.isNaN(known[channel]));
        }
        return free;
    }

    /** Of each input that is looked at channel by channel, those that do not depend on what is fed in. */
    private List<BitSet> freeInputs(Node node, Rule rule, int output) {
        List<BitSet> inputs = new ArrayList<>();
        for (int i = 0; i < node.inputs().size(); i++) {
            boolean byChannel = switch (rule) {
                case Mapping mapping -> mapping.maps()[i][output] != null;
                case Product _ -> i == 0;
                case Contraction _, Recurrence _, Sum _, Opaque _, ShapeOnly _ -> false;
            };
            inputs.add(
                    byChannel && node.has(i) ? freeInput(node, i, rule.inputs().get(i)) : new BitSet());
        }
        return inputs;
    }

    private boolean allFree(Node node, Mapping rule, List<BitSet> inputs, int output, int channel) {
        for (int i = 0; i < node.inputs().size(); i++) {
            if (node.has(i) && !isFree(node, rule, inputs, i, output, channel)) {
                return false;
            }
        }
        return true;
    }

    /** Whether an input leaves a channel of an output alone, or does not depend on what is fed in itself. */
    private boolean isFree(Node node, Mapping rule, List<BitSet> inputs, int input, int output, int channel) {
        int[] map = rule.maps()[input][output];
        if (map == null) {
            // Places in a table, or a shape: read by every channel.
            return isConstant(node.input(input));
        }
        return map[channel] < 0 || inputs.get(input).get(map[channel]);
    }

    private BitSet freeInput(Node node, int input, Channels seen) {
        if (isConstant(node.input(input))) {
            BitSet all = new BitSet();
            all.set(0, seen.count());
            return all;
        }
        boolean followed = flow.channels(node.input(input)).equals(seen) && !seen.none();
        return followed ? independent.getOrDefault(node.input(input), new BitSet()) : new BitSet();
    }

    private boolean isConstant(String tensor) {
        return tensor.isEmpty() || graph.tensor(tensor) != null || entirely.contains(tensor);
    }

    /** Whether a tensor does not depend on what is fed in at all. */
    boolean isEntirelyConstant(String tensor) {
        return entirely.contains(tensor);
    }

    private double[] compute(Node node, Rule rule, int output, Channels channels) {
        return switch (rule) {
            case Mapping mapping -> map(node, mapping, output, channels);
            case Product product -> multiply(node, product, channels);
            case Contraction contraction -> contract(node, contraction, channels);
            case Recurrence recurrence -> recur(node, recurrence, channels);
            case Sum s -> varying(channels);
            case Opaque o -> varying(channels);
            case ShapeOnly s -> varying(channels);
        };
    }

    private static double[] varying(Channels channels) {
        double[] result = new double[channels.count()];
        Arrays.fill(result, Rule.VARIES);
        return result;
    }

    /** The constants of an input as a node sees its channels. */
    double[] ofInput(Node node, int input, Channels seen) {
        Tensor tensor = graph.tensor(node.input(input));
        if (tensor != null) {
            return uniform(tensor, seen);
        }
        double[] known = values.get(node.input(input));
        return known != null && flow.channels(node.input(input)).equals(seen) ? known : varying(seen);
    }

    /** For each channel of a tensor its value, if all its elements are equal. */
    private static double[] uniform(Tensor tensor, Channels channels) {
        if (channels.axes().size() == 1) {
            return uniform(tensor, channels.axes().getFirst(), channels.count());
        }
        double[] result = new double[channels.count()];
        boolean[] seen = new boolean[result.length];
        long[] shape = tensor.shape();
        int[] strides = new int[shape.length];
        int stride = 1;
        for (int position = channels.axes().size() - 1; position >= 0; position--) {
            strides[channels.axes().get(position)] = stride;
            stride *= channels.lengths().get(position);
        }
        for (long i = 0; i < tensor.size(); i++) {
            long rest = i;
            int channel = 0;
            for (int axis = shape.length - 1; axis >= 0 && rest > 0; axis--) {
                channel += (int) (rest % shape[axis]) * strides[axis];
                rest /= shape[axis];
            }
            double value = tensor.getDouble(i);
            result[channel] = !seen[channel] || result[channel] == value ? value : Rule.VARIES;
            seen[channel] = true;
        }
        return result;
    }

    /** The same along one axis, as the memory lies: tables of embeddings are large. */
    private static double[] uniform(Tensor tensor, int axis, int count) {
        long[] shape = tensor.shape();
        long inner = 1;
        for (int i = axis + 1; i < shape.length; i++) {
            inner *= shape[i];
        }
        double[] result = new double[count];
        for (int channel = 0; channel < count; channel++) {
            result[channel] = tensor.getDouble(channel * inner);
            for (long start = channel * inner; start < tensor.size(); start += count * inner) {
                for (long i = start; i < start + inner && !Double.isNaN(result[channel]); i++) {
                    result[channel] = tensor.getDouble(i) == result[channel] ? result[channel] : Rule.VARIES;
                }
                if (Double.isNaN(result[channel])) {
                    break;
                }
            }
        }
        return result;
    }

    private double[] map(Node node, Mapping rule, int output, Channels channels) {
        double[] result = new double[channels.count()];
        List<double[]> inputs = new ArrayList<>();
        for (int i = 0; i < node.inputs().size(); i++) {
            boolean used = node.has(i) && rule.maps()[i][output] != null;
            inputs.add(used ? ofInput(node, i, rule.inputs().get(i)) : new double[0]);
        }
        double[] operands = new double[inputs.size()];
        for (int channel = 0; channel < result.length; channel++) {
            for (int i = 0; i < operands.length; i++) {
                int[] map = rule.maps()[i][output];
                operands[i] = map == null || map[channel] < 0 || inputs.get(i).length == 0
                        ? Rule.VARIES
                        : inputs.get(i)[map[channel]];
            }
            result[channel] = rule.carried().of(output, channel, operands);
        }
        return result;
    }

    private double[] recur(Node node, Recurrence rule, Channels channels) {
        double[] result = varying(channels);
        alwaysZero(node, rule).stream().forEach(unit -> result[unit] = 0);
        return result;
    }

    /** The hidden units of a recurrent layer that are zero at all times. */
    BitSet alwaysZero(Node node, Recurrence rule) {
        return zeroUnits.computeIfAbsent(
                node,
                key -> units(node, rule)
                        .alwaysZero(
                                ofInput(node, 0, rule.inputs().getFirst()),
                                RecurrentRule.zeroAtFirst(graph, node, rule.operator())));
    }

    RecurrentUnits units(Node node, Recurrence rule) {
        return units.computeIfAbsent(
                node,
                key -> new RecurrentUnits(
                        rule.operator(),
                        Objects.requireNonNull(graph.tensor(node.input(1))),
                        Objects.requireNonNull(graph.tensor(node.input(2))),
                        graph.tensor(node.input(3))));
    }

    LayerWeights weights(Node node, Product rule) {
        return weights.computeIfAbsent(node, key -> {
            Tensor weight = graph.tensor(node.input(1));
            if (weight == null) {
                throw new IllegalStateException(node + " has no weights");
            }
            return Optional.ofNullable(known.get(weight))
                    .flatMap(same -> same.as(rule))
                    .orElseGet(() -> LayerWeights.of(rule, weight));
        });
    }

    /** All weights of layers that were looked through; a tensor equals itself alone. */
    Map<Tensor, LayerWeights> known() {
        Map<Tensor, LayerWeights> all = new HashMap<>();
        weights.values().forEach(one -> all.put(one.weight(), one));
        return all;
    }

    /** Whether a layer can do without an input channel of a given constant: zeros at the borders tell it from others. */
    static boolean foldable(Product rule, double value) {
        return value == 0 || (!rule.padded() && !Double.isNaN(value));
    }

    /** The input channels that a layer can do without, by their constants. */
    static BitSet foldable(Product rule, double[] values) {
        BitSet foldable = new BitSet();
        for (int in = 0; in < values.length; in++) {
            foldable.set(in, foldable(rule, values[in]));
        }
        return foldable;
    }

    private double[] multiply(Node node, Product rule, Channels channels) {
        double[] inputs = ofInput(node, 0, rule.inputs().getFirst());
        BitSet foldable = foldable(rule, inputs);
        LayerWeights layer = weights(node, rule);
        double[] result = varying(channels);
        for (int out = 0; out < result.length; out++) {
            BitSet varying = (BitSet) layer.read(out).clone();
            varying.andNot(foldable);
            if (varying.isEmpty()) {
                result[out] =
                        bias(node, rule, out) + rule.layer().scale() * folded(layer, out, inputs, layer.read(out));
            }
        }
        return result;
    }

    /** What constant channels add to an output channel. */
    static double folded(LayerWeights layer, int out, double[] inputs, BitSet ins) {
        return ins.stream()
                .filter(in -> inputs[in] != 0)
                .mapToDouble(in -> inputs[in] * layer.sum(out, in))
                .sum();
    }

    private double bias(Node node, Product rule, int out) {
        Tensor bias = graph.tensor(node.input(2));
        return bias == null ? 0 : rule.layer().biasScale() * bias.getDouble(bias.size() == 1 ? 0 : out);
    }

    /** A head's dimension that is zero on the right is zero in the product. */
    private double[] contract(Node node, Contraction rule, Channels channels) {
        double[] result = varying(channels);
        Channels right = rule.inputs().get(1);
        if (!rule.inner() && right.axes().size() == channels.axes().size()) {
            double[] inputs = ofInput(node, 1, right);
            for (int channel = 0; channel < result.length; channel++) {
                result[channel] = inputs[channel] == 0 ? 0 : Rule.VARIES;
            }
        }
        return result;
    }
}
