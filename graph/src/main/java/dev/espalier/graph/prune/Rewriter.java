package dev.espalier.graph.prune;

import dev.espalier.graph.Graph;
import dev.espalier.graph.Initializer;
import dev.espalier.graph.Initializer.Kind;
import dev.espalier.graph.Node;
import dev.espalier.graph.op.Binary;
import dev.espalier.graph.op.Elementwise.Unary;
import dev.espalier.graph.op.Gather;
import dev.espalier.graph.op.Operator;
import dev.espalier.graph.op.Reduce;
import dev.espalier.graph.op.ShapeOf;
import dev.espalier.graph.op.Slice;
import dev.espalier.graph.pass.DeadNodes;
import dev.espalier.graph.prune.Rule.Contraction;
import dev.espalier.graph.prune.Rule.Layer;
import dev.espalier.graph.prune.Rule.Mapping;
import dev.espalier.graph.prune.Rule.Opaque;
import dev.espalier.graph.prune.Rule.Product;
import dev.espalier.graph.prune.Rule.Recurrence;
import dev.espalier.graph.prune.Rule.ShapeOnly;
import dev.espalier.graph.prune.Rule.Sum;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Dimension;
import dev.espalier.graph.type.Shape;
import dev.espalier.graph.type.Tensor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.Set;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** From front to back: writes the smaller graph, with the channels that are left. */
final class Rewriter {
    private final Graph graph;
    private final Flow flow;
    private final Constants constants;
    private final Liveness liveness;
    private final Map<Tensor, LayerWeights> known;
    private final SequencedMap<String, Initializer> initializers = new LinkedHashMap<>();
    private final List<Node> nodes = new ArrayList<>();
    /** From a tensor that a node no longer makes to the one that takes its place. */
    private final Map<String, String> aliases = new HashMap<>();
    /** The names of the graph, and those that were added to it. */
    private final Set<String> taken = new HashSet<>();
    /** From a tensor and the channels wanted of it to what holds just these. */
    private final Map<String, String> picked = new HashMap<>();

    /**
     * Writes a graph anew.
     *
     * @param graph the graph
     * @param flow how channels flow through it
     * @param constants which of them are constant
     * @param liveness which of them are needed
     * @param known takes what is known of the layers' weights as they are written
     */
    Rewriter(Graph graph, Flow flow, Constants constants, Liveness liveness, Map<Tensor, LayerWeights> known) {
        this.graph = graph;
        this.flow = flow;
        this.constants = constants;
        this.liveness = liveness;
        this.known = known;
        graph.inputs().forEach(input -> taken.add(input.name()));
        taken.addAll(graph.initializers().keySet());
        graph.nodes().forEach(node -> {
            taken.add(node.name());
            taken.addAll(node.outputs());
        });
    }

    /** A name that nobody has yet: a graph that was pruned before has the names of the last time. */
    String fresh(String name) {
        String candidate = name;
        for (int i = 2; !taken.add(candidate); i++) {
            candidate = name + i;
        }
        return candidate;
    }

    Graph rewrite() {
        graph.nodes().stream().filter(liveness::isLive).forEach(this::rewrite);
        for (String output : graph.outputs()) {
            String source = resolve(output);
            if (!source.equals(output)) {
                nodes.add(new Node(output, new Unary(Unary.Function.IDENTITY), List.of(source), List.of(output)));
            }
        }
        for (String output : graph.outputs()) {
            Initializer initializer = graph.initializers().get(output);
            if (initializer != null) {
                initializers.put(output, initializer);
            }
        }
        return DeadNodes.remove(graph.with(initializers, nodes));
    }

    private void rewrite(Node node) {
        Rule rule = flow.ruleOf(node);
        switch (rule) {
            case Mapping mapping -> mapping.written().write(this, node, mapping);
            case Product product -> rewriteProduct(node, product);
            case Recurrence recurrence ->
                RecurrentRule.write(
                        this,
                        node,
                        recurrence,
                        liveness.units(node, recurrence),
                        delivered(graph, flow, liveness, node, recurrence));
            case Contraction _, Opaque _ -> keep(node, rule);
            case Sum sum -> rewriteSum(node, sum);
            case ShapeOnly _ -> rewriteShape(node, rule);
        }
    }

    private String resolve(String tensor) {
        String source = tensor;
        while (aliases.containsKey(source)) {
            source = aliases.get(source);
        }
        return source;
    }

    /** A node whose operator stays as it is, with inputs that hold just what it needs. */
    void keep(Node node, Rule rule) {
        add(new Node(node.name(), node.operator(), inputs(node, rule), node.outputs()));
    }

    private List<String> inputs(Node node, Rule rule) {
        List<String> inputs = new ArrayList<>();
        for (int i = 0; i < node.inputs().size(); i++) {
            inputs.add(input(node, rule, i));
        }
        return inputs;
    }

    /** Adds a node to the smaller graph. */
    void add(Node node) {
        nodes.add(node);
    }

    /** Has another tensor take the place of one that no node makes any more. */
    void alias(String tensor, String source) {
        aliases.put(tensor, source);
    }

    /** The shape that a tensor had. */
    Shape shape(String tensor) {
        return graph.shape(tensor);
    }

    /** The channels of a tensor that are left. */
    Kept kept(String tensor) {
        return liveness.kept(tensor);
    }

    /** Whether anybody needs a tensor. */
    boolean isLive(String tensor) {
        return liveness.isLive(tensor);
    }

    /** The channels of an input that a node asks for; null if a constant takes its place. */
    @Nullable
    BitSet needed(Node node, int input) {
        return liveness.needed(node, input);
    }

    boolean isWeight(Node node, int input) {
        return graph.tensor(node.input(input)) != null;
    }

    Tensor weight(Node node, int input) {
        return initializer(node.input(input)).tensor();
    }

    /** What an input carries, by the channels that a node sees. */
    double[] constants(Node node, int input, Rule rule) {
        return constants.ofInput(node, input, rule.inputs().get(input));
    }

    /** The hidden units of a recurrent layer. */
    RecurrentUnits units(Node node, Recurrence rule) {
        return constants.units(node, rule);
    }

    /** Whether constants take the place of an operand that was computed. */
    boolean isReplaced(Node node, int input) {
        return !isWeight(node, input) && liveness.needed(node, input) == null;
    }

    /** Whether an operand is zero in every channel that is left. */
    boolean isZero(Node node, Mapping rule, int index) {
        double[] values = constants.ofInput(node, index, rule.inputs().get(index));
        int[] map = rule.maps()[index][0];
        return Arrays.stream(kept(node.output()).left()).allMatch(channel -> values[map[channel]] == 0);
    }

    /**
     * Whoever computes with the lengths of a tensor that has lost channels gets those that it had: the tensors that are made
     * of such numbers have not changed.
     */
    private void rewriteShape(Node node, Rule rule) {
        Kept left = kept(node.input(0));
        if (left.whole() || !tellsChannels(node)) {
            keep(node, rule);
            return;
        }
        String smaller = fresh(node.output() + ".smaller");
        add(new Node(node.name(), node.operator(), inputs(node, rule), List.of(smaller)));
        if (node.operator() instanceof ShapeOf shape) {
            long[] gone = left.gone(shape(node.input(0)).rank());
            long[] read = Arrays.copyOfRange(gone, shape.from(gone.length), shape.to(gone.length));
            combine(node, ".whole", Binary.Function.ADD, smaller, Tensor.of(read), node.output());
        } else {
            String others = fresh(node.output() + ".others");
            Tensor count = Tensor.scalar(DataType.INT64, left.left().length);
            combine(node, ".part", Binary.Function.DIVIDE, smaller, count, others);
            Tensor whole = Tensor.scalar(DataType.INT64, left.channels().count());
            combine(node, ".whole", Binary.Function.MULTIPLY, others, whole, node.output());
        }
    }

    private void combine(Node node, String suffix, Binary.Function function, String left, Tensor right, String output) {
        String name = node.name() + suffix;
        add(new Node(
                fresh(name), new Binary(function), List.of(left, constant(name + ".number", right)), List.of(output)));
    }

    /** A shape that is computed, less what is gone of the tensor that a node makes of it. */
    String lessened(Node node, Kept left, String whole) {
        if (left.whole()) {
            return whole;
        }
        String smaller = fresh(node.output() + ".shape");
        Tensor gone = Tensor.of(left.gone(shape(node.output()).rank()));
        combine(node, ".less", Binary.Function.SUBTRACT, whole, gone, smaller);
        return smaller;
    }

    /** Channels that carry zero add nothing to a sum; but a mean is over all that there were. */
    private void rewriteSum(Node node, Sum rule) {
        Channels channels = rule.inputs().getFirst();
        BitSet need = liveness.needed(node, 0);
        int left = need == null ? channels.count() : need.cardinality();
        if (rule.reduce().function() != Reduce.Function.MEAN || left == channels.count()) {
            keep(node, rule);
            return;
        }
        String mean = fresh(node.output() + ".mean");
        add(new Node(node.name(), node.operator(), inputs(node, rule), List.of(mean)));
        DataType type = graph.fact(node.output()).data();
        Tensor share = Tensor.scalar(type, (double) left / channels.count());
        combine(node, ".share", Binary.Function.MULTIPLY, mean, share, node.output());
    }

    /** Whether a node reads more of a shape than free lengths, which no channel is along. */
    private boolean tellsChannels(Node node) {
        return graph.isOutput(node.output())
                || graph.uses(node.output()).stream().anyMatch(use -> !picksFreeLengths(use.node()));
    }

    private boolean picksFreeLengths(Node node) {
        List<Dimension> picked = node.operator() instanceof Gather || node.operator() instanceof Slice
                ? graph.fact(node.output()).elements()
                : null;
        return picked != null && picked.stream().noneMatch(Dimension::isKnown);
    }

    /** The input of a node, with just what it needs. */
    String input(Node node, Rule rule, int index) {
        String name = node.input(index);
        if (name.isEmpty()) {
            return name;
        }
        Tensor tensor = graph.tensor(name);
        Channels seen = rule.inputs().get(index);
        if (tensor == null) {
            BitSet need = liveness.needed(node, index);
            if (rule instanceof ShapeOnly || need == null) {
                return need == null ? constantOperand(node, rule, index) : resolve(name);
            }
            return pick(name, seen, need.stream().toArray());
        }
        if (rule instanceof Mapping mapping && mapping.maps()[index][0] != null && !seen.none()) {
            BitSet need = new BitSet();
            for (int i = 0; i < node.outputs().size(); i++) {
                int[] map = mapping.maps()[index][i];
                Arrays.stream(liveness.kept(node.outputs().get(i)).left())
                        .map(channel -> map[channel])
                        .filter(channel -> channel >= 0)
                        .forEach(need::set);
            }
            return slice(node, name, Kept.of(seen, need));
        }
        return borrow(name);
    }

    private String borrow(String name) {
        initializers.putIfAbsent(name, initializer(name));
        return name;
    }

    private Initializer initializer(String name) {
        Initializer initializer = graph.initializers().get(name);
        if (initializer == null) {
            throw new IllegalStateException("no initializer " + name);
        }
        return initializer;
    }

    /** The channels that are left of an initializer, under its own name unless another node reads it differently. */
    private String slice(Node node, String name, Kept left) {
        if (left.whole()) {
            return borrow(name);
        }
        return store(
                node,
                name,
                Slices.take(initializer(name).tensor(), left),
                initializer(name).kind());
    }

    private String store(Node node, String name, Tensor contents, Kind kind) {
        boolean shared = graph.uses(name).size() > 1;
        String unique = shared ? fresh(name + "@" + node.name()) : name;
        initializers.put(unique, new Initializer(contents, kind));
        return unique;
    }

    /** The weights of a node with other contents, or as they are. */
    String stored(Node node, int input, Tensor contents) {
        String name = node.input(input);
        return contents == weight(node, input) ? borrow(name) : store(node, name, contents, kind(name));
    }

    /** A tensor that holds just the wanted channels: the tensor itself, or a selection from it. */
    String pick(String name, Channels seen, int[] wanted) {
        if (liveness.isJust(name, seen, wanted)) {
            return resolve(name);
        }
        if (seen.axes().size() != 1) {
            throw new IllegalStateException("cannot select from " + name + " along several axes");
        }
        Kept made = liveness.kept(name);
        boolean followed = made.channels().equals(seen);
        long[] positions = Arrays.stream(wanted)
                .mapToLong(channel -> followed ? Arrays.binarySearch(made.left(), channel) : channel)
                .toArray();
        int axis = seen.axes().getFirst();
        String key = name + " " + axis + " " + Arrays.toString(positions);
        return picked.computeIfAbsent(key, k -> {
            String selection = fresh(name + ".selection");
            String indices = constant(selection + ".indices", Tensor.of(positions));
            nodes.add(new Node(selection, new Gather(axis), List.of(resolve(name), indices), List.of(selection)));
            return selection;
        });
    }

    /** The constant that takes the place of an operand, one number for each channel that is left. */
    private String constantOperand(Node node, Rule rule, int index) {
        if (!(rule instanceof Mapping mapping)) {
            throw new IllegalStateException(node + " takes no constant");
        }
        Channels seen = rule.inputs().get(index);
        double[] values = constants.ofInput(node, index, seen);
        int[] map = mapping.maps()[index][0];
        int[] wanted = Arrays.stream(liveness.kept(node.output()).left())
                .map(channel -> map[channel])
                .distinct()
                .sorted()
                .toArray();
        long[] shape = new long[graph.shape(node.input(index)).rank()];
        Arrays.fill(shape, 1);
        shape[seen.axes().getFirst()] = wanted.length;
        DataType type = graph.fact(node.input(index)).data();
        return constant(node.input(index) + ".constant", Tensor.compute(type, shape, i -> values[wanted[(int) i]]));
    }

    /** A constant of the smaller graph, under a name that nobody has yet. */
    String constant(String name, Tensor contents) {
        String unique = fresh(name);
        initializers.put(unique, new Initializer(contents, Kind.CONSTANT));
        return unique;
    }

    private void rewriteProduct(Node node, Product rule) {
        int[] ins = delivered(graph, flow, liveness, node, rule);
        Kept outs = liveness.kept(node.output());
        Tensor weight = initializer(node.input(1)).tensor();
        LayerWeights weights = constants.weights(node, rule);
        Tensor smaller = weights.between(weight, outs.left(), ins);
        if (rule.groups() == 1) {
            known.put(smaller, weights.some(smaller, outs.left(), ins));
        }
        int groups = weights.groups(outs.left()).size();
        List<String> inputs =
                new ArrayList<>(List.of(pick(node.input(0), rule.inputs().getFirst(), ins), stored(node, 1, smaller)));
        Tensor bias = bias(node, rule, outs, ins);
        Operator operator = rule.layer().smaller().of(groups, bias != null);
        if (bias != null && rule.layer().addsBias()) {
            boolean had = node.has(2);
            String name = had ? node.input(2) : node.name() + ".bias";
            inputs.add(had ? store(node, name, bias, kind(name)) : put(name, bias));
        }
        if (bias != null && !rule.layer().addsBias()) {
            String product = fresh(node.output() + ".product");
            nodes.add(new Node(node.name(), operator, inputs, List.of(product)));
            String name = put(node.name() + ".bias", bias);
            nodes.add(new Node(
                    fresh(node.name() + ".shift"),
                    new Binary(Binary.Function.ADD),
                    List.of(product, name),
                    node.outputs()));
            return;
        }
        nodes.add(new Node(node.name(), operator, inputs, node.outputs()));
    }

    /** A weight that was not there, under a name that nobody has yet. */
    String put(String name, Tensor contents) {
        String unique = fresh(name);
        initializers.put(unique, new Initializer(contents, Kind.PARAMETER));
        return unique;
    }

    private Kind kind(String name) {
        return initializer(name).kind();
    }

    /**
     * The input channels that a layer reads: what it needs. Of a tensor with channels that only fill up, because heads are
     * equally large, it reads those too: their columns are zero, and selecting the others would cost more than they do. Not so in
     * groups, which each have their own inputs.
     */
    static int[] delivered(Graph graph, Flow flow, Liveness liveness, Node node, Rule rule) {
        BitSet need = liveness.needed(node, 0);
        String input = node.input(0);
        if (need == null) {
            return rule.inputs().getFirst().all();
        }
        Node maker = graph.producer(input);
        boolean inParts = rule instanceof Product product && product.groups() > 1;
        boolean fillsUp = !inParts
                && maker != null
                && flow.ruleOf(maker) instanceof Mapping
                && flow.channels(input).equals(rule.inputs().getFirst())
                && need.equals(liveness.requested(input));
        return fillsUp ? liveness.kept(input).left() : liveness.selected(node, rule, need);
    }

    /** The bias of the channels that are left, with what constant channels added; null if there is none. */
    private @Nullable Tensor bias(Node node, Product rule, Kept outs, int[] ins) {
        LayerWeights weights = constants.weights(node, rule);
        double[] values = constants.ofInput(node, 0, rule.inputs().getFirst());
        Layer layer = rule.layer();
        BitSet read = Kept.bits(ins);
        BitSet known = Kept.bits(IntStream.range(0, values.length)
                .filter(in -> !Double.isNaN(values[in]))
                .toArray());
        double[] shift = IntStream.of(outs.left())
                .mapToDouble(out -> {
                    BitSet folded = (BitSet) weights.read(out).clone();
                    folded.andNot(read);
                    folded.and(known);
                    return layer.scale() * Constants.folded(weights, out, values, folded);
                })
                .toArray();
        Tensor old = node.has(2) ? initializer(node.input(2)).tensor() : null;
        if (old == null && Arrays.stream(shift).allMatch(value -> value == 0)) {
            return null;
        }
        DataType type = graph.fact(node.output()).data();
        // A bias of one number for all channels stays one, unless constants make a difference between them.
        boolean one = old != null && old.size() == 1 && Arrays.stream(shift).allMatch(value -> value == shift[0]);
        return Tensor.compute(type, new long[] {one ? 1 : shift.length}, i -> {
            int out = outs.left()[(int) i];
            double had = old == null ? 0 : layer.biasScale() * old.getDouble(old.size() == 1 ? 0 : out);
            return had + shift[(int) i];
        });
    }
}
