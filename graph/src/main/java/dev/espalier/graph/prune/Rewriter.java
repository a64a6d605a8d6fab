package dev.espalier.graph.prune;

import dev.espalier.graph.Graph;
import dev.espalier.graph.Initializer;
import dev.espalier.graph.Initializer.Kind;
import dev.espalier.graph.Node;
import dev.espalier.graph.op.Binary;
import dev.espalier.graph.op.Concat;
import dev.espalier.graph.op.Conv;
import dev.espalier.graph.op.Elementwise.Unary;
import dev.espalier.graph.op.Gather;
import dev.espalier.graph.op.Gemm;
import dev.espalier.graph.op.Operator;
import dev.espalier.graph.op.Pad;
import dev.espalier.graph.op.Reshape;
import dev.espalier.graph.op.Slice;
import dev.espalier.graph.op.Split;
import dev.espalier.graph.pass.DeadNodes;
import dev.espalier.graph.prune.Rule.Contraction;
import dev.espalier.graph.prune.Rule.Mapping;
import dev.espalier.graph.prune.Rule.Opaque;
import dev.espalier.graph.prune.Rule.Product;
import dev.espalier.graph.prune.Rule.ShapeOnly;
import dev.espalier.graph.type.DataType;
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
    private final SequencedMap<String, Initializer> initializers = new LinkedHashMap<>();
    private final List<Node> nodes = new ArrayList<>();
    /** From a tensor that a node no longer makes to the one that takes its place. */
    private final Map<String, String> aliases = new HashMap<>();
    /** The names of the graph, and those that were added to it. */
    private final Set<String> taken = new HashSet<>();
    /** From a tensor and the channels wanted of it to what holds just these. */
    private final Map<String, String> picked = new HashMap<>();

    Rewriter(Graph graph, Flow flow, Constants constants, Liveness liveness) {
        this.graph = graph;
        this.flow = flow;
        this.constants = constants;
        this.liveness = liveness;
        graph.inputs().forEach(input -> taken.add(input.name()));
        taken.addAll(graph.initializers().keySet());
        graph.nodes().forEach(node -> {
            taken.add(node.name());
            taken.addAll(node.outputs());
        });
    }

    /** A name that nobody has yet: a graph that was pruned before has the names of the last time. */
    private String fresh(String name) {
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
            case Mapping mapping -> rewriteMapping(node, mapping);
            case Product product -> rewriteProduct(node, product);
            case Contraction c -> rewriteRigid(node, rule);
            case Opaque o -> rewriteRigid(node, rule);
            case ShapeOnly s -> rewriteRigid(node, rule);
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
    private void rewriteRigid(Node node, Rule rule) {
        List<String> inputs = new ArrayList<>();
        for (int i = 0; i < node.inputs().size(); i++) {
            inputs.add(input(node, rule, i));
        }
        nodes.add(new Node(node.name(), node.operator(), inputs, node.outputs()));
    }

    private String input(Node node, Rule rule, int index) {
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

    /** A tensor that holds just the wanted channels: the tensor itself, or a selection from it. */
    private String pick(String name, Channels seen, int[] wanted) {
        Kept made = liveness.kept(name);
        boolean followed = !made.channels().none() && made.channels().equals(seen);
        boolean whole = seen.none() || wanted.length == seen.count();
        if (followed ? Arrays.equals(made.left(), wanted) : whole) {
            return resolve(name);
        }
        if (seen.axes().size() != 1) {
            throw new IllegalStateException("cannot select from " + name + " along several axes");
        }
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

    private void rewriteMapping(Node node, Mapping rule) {
        String untouched = withoutEffect(node, rule);
        if (untouched != null) {
            aliases.put(node.output(), untouched);
            return;
        }
        switch (node.operator()) {
            case Concat concat -> rewriteConcat(node, rule);
            case Split split -> rewriteSplit(node, rule, split);
            case Reshape reshape -> rewriteReshape(node, rule);
            case Slice slice -> rewriteSlice(node, rule);
            case Gather gather -> rewriteGather(node, rule, gather);
            case Pad pad -> rewritePad(node, rule, pad);
            default -> rewriteRigid(node, rule);
        }
    }

    /** A sum with zeros is its other operand: so a block whose branch carries nothing is bypassed. */
    private @Nullable String withoutEffect(Node node, Mapping rule) {
        if (!(node.operator() instanceof Binary binary) || binary.function() != Binary.Function.ADD) {
            return null;
        }
        for (int i = 0; i < 2; i++) {
            int other = 1 - i;
            boolean sameShape = graph.shape(node.input(other)).equals(graph.shape(node.output()));
            if (sameShape
                    && graph.tensor(node.input(i)) == null
                    && liveness.needed(node, i) == null
                    && isZero(node, rule, i)) {
                return graph.tensor(node.input(other)) != null || liveness.needed(node, other) == null
                        ? null
                        : input(node, rule, other);
            }
        }
        return null;
    }

    private boolean isZero(Node node, Mapping rule, int index) {
        double[] values = constants.ofInput(node, index, rule.inputs().get(index));
        int[] map = rule.maps()[index][0];
        return Arrays.stream(liveness.kept(node.output()).left()).allMatch(channel -> values[map[channel]] == 0);
    }

    private void rewriteConcat(Node node, Mapping rule) {
        List<String> pieces = new ArrayList<>();
        for (int i = 0; i < node.inputs().size(); i++) {
            int[] map = rule.maps()[i][0];
            if (Arrays.stream(liveness.kept(node.output()).left()).anyMatch(channel -> map[channel] >= 0)) {
                pieces.add(input(node, rule, i));
            }
        }
        if (pieces.size() == 1) {
            aliases.put(node.output(), pieces.getFirst());
        } else {
            nodes.add(new Node(node.name(), node.operator(), pieces, node.outputs()));
        }
    }

    private void rewriteSplit(Node node, Mapping rule, Split split) {
        boolean cut = rule.inputs()
                .getFirst()
                .axes()
                .contains(graph.shape(node.input(0)).axis(split.axis()));
        if (!cut) {
            rewriteRigid(node, rule);
            return;
        }
        List<String> outputs = node.outputs().stream().filter(liveness::isLive).toList();
        String input = input(node, rule, 0);
        if (outputs.size() == 1) {
            aliases.put(outputs.getFirst(), input);
            return;
        }
        List<Long> sizes = outputs.stream()
                .map(output -> (long) liveness.kept(output).left().length)
                .toList();
        nodes.add(new Node(node.name(), new Split(split.axis(), sizes), List.of(input), outputs));
    }

    private void rewriteReshape(Node node, Mapping rule) {
        List<Long> target = Regrouping.target(graph.shape(node.input(0)), graph.shape(node.output()));
        Kept left = liveness.kept(node.output());
        if (target == null) {
            throw new IllegalStateException(node + " has no shape to ask for");
        }
        List<Long> smaller = new ArrayList<>(target);
        for (int i = 0; i < left.lengths().size(); i++) {
            smaller.set(left.channels().axes().get(i), (long) left.lengths().get(i));
        }
        String shape = constant(
                node.name() + ".shape",
                Tensor.of(smaller.stream().mapToLong(Long::longValue).toArray(), smaller.size()));
        List<String> inputs = List.of(input(node, rule, 0), shape);
        int[] wanted = left.inOrderOfAxes();
        int[] moved = rule.maps()[0][0].length == rule.inputs().getFirst().count() ? moved(node, rule) : wanted;
        if (Arrays.equals(moved, wanted)) {
            nodes.add(new Node(node.name(), Reshape.DEFAULT, inputs, node.outputs()));
            return;
        }
        // Joined axes mix heads of which different places are left: they are put back in order.
        String mixed = fresh(node.output() + ".mixed");
        nodes.add(new Node(node.name(), Reshape.DEFAULT, inputs, List.of(mixed)));
        List<Integer> order = Arrays.stream(moved).boxed().toList();
        String indices = constant(
                node.name() + ".order",
                Tensor.of(Arrays.stream(wanted).mapToLong(order::indexOf).toArray()));
        nodes.add(new Node(
                fresh(node.name() + ".sorted"),
                new Gather(left.channels().axes().getFirst()),
                List.of(mixed, indices),
                node.outputs()));
    }

    /** The channels of a reshape's output in the order in which those that are left of its input lie in memory. */
    private int[] moved(Node node, Mapping rule) {
        int[] map = rule.maps()[0][0];
        Map<Integer, Integer> outputs = new HashMap<>();
        for (int channel = 0; channel < map.length; channel++) {
            outputs.put(map[channel], channel);
        }
        BitSet need = liveness.needed(node, 0);
        Kept input = need == null
                ? Kept.all(rule.inputs().getFirst())
                : Kept.of(rule.inputs().getFirst(), need);
        return Arrays.stream(input.inOrderOfAxes()).map(outputs::get).toArray();
    }

    private String constant(String name, Tensor contents) {
        String unique = fresh(name);
        initializers.put(unique, new Initializer(contents, Kind.CONSTANT));
        return unique;
    }

    /** What is cut off along the channels is not even made any more; other axes are still cut. */
    private void rewriteSlice(Node node, Mapping rule) {
        List<Integer> axes = rule.inputs().getFirst().axes();
        List<Slice.Piece> pieces = Slice.pieces(graph.operands(node));
        if (pieces == null || pieces.stream().noneMatch(piece -> axes.contains(piece.axis()))) {
            rewriteRigid(node, rule);
            return;
        }
        int[] others = IntStream.range(0, pieces.size())
                .filter(i -> !axes.contains(pieces.get(i).axis()))
                .toArray();
        if (others.length == 0) {
            aliases.put(node.output(), input(node, rule, 0));
            return;
        }
        List<String> inputs = new ArrayList<>(List.of(input(node, rule, 0)));
        for (int i = 1; i < node.inputs().size(); i++) {
            inputs.add(
                    node.has(i)
                            ? constant(
                                    node.name() + ".bounds" + i,
                                    Slices.take(initializer(node.input(i)).tensor(), 0, others))
                            : "");
        }
        nodes.add(new Node(node.name(), node.operator(), inputs, node.outputs()));
    }

    private void rewriteGather(Node node, Mapping rule, Gather gather) {
        int axis = graph.shape(node.input(0)).axis(gather.axis());
        if (!rule.inputs().getFirst().axes().contains(axis)) {
            rewriteRigid(node, rule);
            return;
        }
        int[] map = rule.maps()[0][0];
        int[] sources = Arrays.stream(liveness.kept(node.output()).left())
                .map(channel -> map[channel])
                .toArray();
        int[] delivered = Arrays.stream(sources).distinct().sorted().toArray();
        String input = input(node, rule, 0);
        if (Arrays.equals(sources, delivered)) {
            aliases.put(node.output(), input);
            return;
        }
        String indices = constant(
                node.name() + ".indices",
                Tensor.of(Arrays.stream(sources)
                        .mapToLong(source -> Arrays.binarySearch(delivered, source))
                        .toArray()));
        nodes.add(new Node(node.name(), gather, List.of(input, indices), node.outputs()));
    }

    private void rewritePad(Node node, Mapping rule, Pad pad) {
        int[] map = rule.maps()[0][0];
        int rank = pad.pads().size() / 2;
        int axis = rule.inputs().getFirst().axes().getFirst();
        List<Long> pads = new ArrayList<>(pad.pads());
        int[] left = liveness.kept(node.output()).left();
        long before = Arrays.stream(left).takeWhile(channel -> map[channel] < 0).count();
        long added = Arrays.stream(left).filter(channel -> map[channel] < 0).count();
        if (pad.pads().get(axis) != 0 || pad.pads().get(axis + rank) != 0) {
            pads.set(axis, before);
            pads.set(axis + rank, added - before);
        }
        nodes.add(new Node(
                node.name(), new Pad(pad.mode(), pads, pad.value()), List.of(input(node, rule, 0)), node.outputs()));
    }

    private void rewriteProduct(Node node, Product rule) {
        int[] ins = delivered(graph, flow, liveness, node, rule);
        Kept outs = liveness.kept(node.output());
        Tensor weight = initializer(node.input(1)).tensor();
        Tensor smaller = Slices.take(weight, rule.outAxis(), outs.left());
        Operator operator = node.operator();
        if (rule.groups() == 1) {
            smaller = Slices.take(smaller, rule.inAxis(), ins);
        } else if (operator instanceof Conv conv) {
            int perGroup = constants.weights(node, rule).outs() / rule.groups();
            operator = new Conv(conv.windows(), outs.left().length / perGroup);
        }
        String weightName =
                smaller == weight ? borrow(node.input(1)) : store(node, node.input(1), smaller, kind(node.input(1)));
        List<String> inputs =
                new ArrayList<>(List.of(pick(node.input(0), rule.inputs().getFirst(), ins), weightName));
        Tensor bias = bias(node, rule, outs, ins);
        boolean separate = !(operator instanceof Conv) && !(operator instanceof Gemm);
        if (bias != null && !separate) {
            boolean had = node.has(2);
            String name = had ? node.input(2) : node.name() + ".bias";
            inputs.add(had ? store(node, name, bias, kind(name)) : put(name, bias));
            operator = operator instanceof Gemm gemm
                    ? new Gemm(gemm.alpha(), 1, gemm.transposeA(), gemm.transposeB())
                    : operator;
        }
        if (bias != null && separate) {
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

    private String put(String name, Tensor contents) {
        String unique = fresh(name);
        initializers.put(unique, new Initializer(contents, Kind.PARAMETER));
        return unique;
    }

    private Kind kind(String name) {
        return initializer(name).kind();
    }

    /**
     * The input channels that a layer reads: what it needs. Of a tensor with channels that only fill up, because heads are
     * equally large, it reads those too: their columns are zero, and selecting the others would cost more than they do.
     */
    static int[] delivered(Graph graph, Flow flow, Liveness liveness, Node node, Product rule) {
        BitSet need = liveness.needed(node, 0);
        String input = node.input(0);
        if (need == null) {
            return rule.inputs().getFirst().all();
        }
        Node maker = graph.producer(input);
        boolean fillsUp = maker != null
                && flow.ruleOf(maker) instanceof Mapping
                && flow.channels(input).equals(rule.inputs().getFirst())
                && need.equals(liveness.requested(input));
        return fillsUp ? liveness.kept(input).left() : need.stream().toArray();
    }

    /** The bias of the channels that are left, with what constant channels added; null if there is none. */
    private @Nullable Tensor bias(Node node, Product rule, Kept outs, int[] ins) {
        LayerWeights weights = constants.weights(node, rule);
        double[] values = constants.ofInput(node, 0, rule.inputs().getFirst());
        double alpha = node.operator() instanceof Gemm gemm ? gemm.alpha() : 1;
        double beta = node.operator() instanceof Gemm gemm ? gemm.beta() : 1;
        BitSet read = Kept.bits(ins);
        BitSet known = Kept.bits(IntStream.range(0, values.length)
                .filter(in -> !Double.isNaN(values[in]))
                .toArray());
        double[] shift = IntStream.of(outs.left())
                .mapToDouble(out -> {
                    BitSet folded = (BitSet) weights.read(out).clone();
                    folded.andNot(read);
                    folded.and(known);
                    return alpha * Constants.folded(weights, out, values, folded);
                })
                .toArray();
        Tensor old = node.has(2) ? initializer(node.input(2)).tensor() : null;
        if (old == null && Arrays.stream(shift).allMatch(value -> value == 0)) {
            return null;
        }
        DataType type = graph.fact(node.output()).data();
        return Tensor.compute(type, new long[] {shift.length}, i -> {
            int out = outs.left()[(int) i];
            double had = old == null ? 0 : beta * old.getDouble(old.size() == 1 ? 0 : out);
            return had + shift[(int) i];
        });
    }
}
