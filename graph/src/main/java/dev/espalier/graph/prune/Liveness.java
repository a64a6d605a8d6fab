package dev.espalier.graph.prune;

import dev.espalier.graph.Graph;
import dev.espalier.graph.Graph.Use;
import dev.espalier.graph.Node;
import dev.espalier.graph.op.Recurrent;
import dev.espalier.graph.prune.Rule.Contraction;
import dev.espalier.graph.prune.Rule.Mapping;
import dev.espalier.graph.prune.Rule.Opaque;
import dev.espalier.graph.prune.Rule.Product;
import dev.espalier.graph.prune.Rule.Recurrence;
import dev.espalier.graph.prune.Rule.ShapeOnly;
import dev.espalier.graph.prune.Rule.Sum;
import dev.espalier.graph.prune.Widths.Selections;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * From back to front: which channels does anybody need? Those of the outputs, and from there those that are read with a
 * weight that is not zero; a constant is not read but folded.
 */
final class Liveness {
    private final Graph graph;
    private final Flow flow;
    private final Constants constants;
    private final PruneOptions options;
    /** For what normalisations make, the channels that they count: all of these are made. */
    private final Map<String, BitSet> counted;
    /** For each tensor that somebody needs, the channels that anybody asks for. */
    private final Map<String, BitSet> requested = new HashMap<>();

    private final Map<String, Kept> kept = new HashMap<>();
    private final Map<Use, BitSet> needed = new HashMap<>();
    /** Channels that nobody asks for, but that cost less than to leave them out. */
    private final Map<String, BitSet> tolerated;

    private Liveness(
            Graph graph,
            Flow flow,
            Constants constants,
            PruneOptions options,
            Map<String, BitSet> counted,
            Map<String, BitSet> tolerated) {
        this.graph = graph;
        this.flow = flow;
        this.constants = constants;
        this.options = options;
        this.counted = counted;
        this.tolerated = tolerated;
        graph.outputs().forEach(this::requestWhole);
        graph.nodes().reversed().stream().filter(this::isLive).forEach(this::visit);
    }

    /** Looks again until nobody selects channels who had better take all of them. */
    static Liveness of(Graph graph, Flow flow, Constants constants, PruneOptions options, Map<String, BitSet> counted) {
        Map<String, BitSet> tolerated = new HashMap<>();
        Liveness liveness;
        do {
            liveness = new Liveness(graph, flow, constants, options, Map.copyOf(counted), tolerated);
        } while (options.widths().selections() != Selections.ALL && liveness.tolerateMore());
        return liveness;
    }

    /**
     * Who makes a channel of each channel that it reads, and would have to select those that it needs, makes something of the others
     * too.
     *
     * @return whether there is anything that was not tolerated before
     */
    private boolean tolerateMore() {
        boolean more = false;
        for (Map.Entry<Use, BitSet> entry : needed.entrySet()) {
            Use use = entry.getKey();
            Rule rule = flow.ruleOf(use.node());
            String input = use.node().input(use.input());
            Channels seen = rule.inputs().get(use.input());
            BitSet there = kept(input).set();
            if (seen.none() || !flow.channels(input).equals(seen) || there.equals(entry.getValue())) {
                continue;
            }
            for (int i = 0; i < use.node().outputs().size(); i++) {
                String output = use.node().outputs().get(i);
                BitSet made = madeOf(use.node(), rule, use.input(), i, there);
                made.andNot(kept(output).set());
                if (isLive(output) && !made.isEmpty()) {
                    tolerated.computeIfAbsent(output, _ -> new BitSet()).or(made);
                    more = true;
                }
            }
        }
        return more;
    }

    /** The channels of an output that are made of some of an input; none where each is made of all. */
    private BitSet madeOf(Node node, Rule rule, int input, int output, BitSet there) {
        BitSet made = new BitSet();
        if (rule instanceof Mapping mapping) {
            int[] map = mapping.maps()[input][output];
            IntStream.range(0, map == null ? 0 : map.length)
                    .filter(channel -> map[channel] >= 0 && there.get(map[channel]))
                    .forEach(made::set);
        } else if (rule instanceof Product product && product.groups() > 1) {
            LayerWeights weights = constants.weights(node, product);
            int outs = weights.outs() / product.groups();
            there.stream()
                    .map(channel -> channel / weights.insPerGroup())
                    .forEach(group -> made.set(group * outs, (group + 1) * outs));
        }
        return made;
    }

    /** Whether anybody needs what a node makes. */
    boolean isLive(Node node) {
        return node.outputs().stream().anyMatch(requested::containsKey);
    }

    /** Whether anything is left out: channels of a tensor, or an operand that is computed. */
    boolean leavesOut() {
        return graph.nodes().stream().filter(this::isLive).anyMatch(this::leavesOut);
    }

    private boolean leavesOut(Node node) {
        return node.outputs().stream().anyMatch(output -> !kept(output).whole())
                || IntStream.range(0, node.inputs().size())
                        .anyMatch(i -> node.has(i) && graph.tensor(node.input(i)) == null && needed(node, i) == null);
    }

    /** Whether anybody needs a tensor. */
    boolean isLive(String tensor) {
        return requested.containsKey(tensor);
    }

    /** The channels of a tensor that are left; all of them for inputs of the graph. */
    Kept kept(String tensor) {
        Kept left = kept.get(tensor);
        return left == null ? Kept.all(flow.channels(tensor)) : left;
    }

    /** The channels that anybody asks for; there may be more in {@link #kept}, which only fill up. */
    BitSet requested(String tensor) {
        return requested.getOrDefault(tensor, new BitSet());
    }

    /** The channels of an input that a node asks for; null if it is left out, or a constant takes its place. */
    @Nullable
    BitSet needed(Node node, int input) {
        return needed.get(new Use(node, input));
    }

    private void requestWhole(String tensor) {
        request(tensor, Kept.all(flow.channels(tensor)).set());
    }

    private void request(String tensor, BitSet channels) {
        requested.computeIfAbsent(tensor, key -> new BitSet()).or(channels);
    }

    private void visit(Node node) {
        Rule rule = flow.ruleOf(node);
        for (int i = 0; i < node.outputs().size(); i++) {
            String output = node.outputs().get(i);
            if (isLive(output)) {
                request(output, tolerated.getOrDefault(output, new BitSet()));
                roundUp(requested(output), output, rule.outputs().get(i));
                kept.put(output, close(node, rule, i, wanted(output)));
            }
        }
        for (int i = 0; i < node.inputs().size(); i++) {
            if (node.has(i) && graph.tensor(node.input(i)) == null) {
                BitSet need = need(node, rule, i);
                if (need != null) {
                    needed.put(new Use(node, i), need);
                    demand(node.input(i), rule, i, need);
                }
            }
        }
    }

    /**
     * The channels of a tensor that are to be made. Of a normalisation all that it counts, whether anybody reads them or not: selecting
     * the others first would cost more, and hide it from runtimes that do it in one go.
     */
    private BitSet wanted(String tensor) {
        BitSet more = counted.get(tensor);
        if (more == null) {
            return requested(tensor);
        }
        BitSet wanted = (BitSet) requested(tensor).clone();
        wanted.or(more);
        return wanted;
    }

    /** Asks for channels of a tensor; for all of them if the reader counts them otherwise than the maker does. */
    private void demand(String tensor, Rule rule, int input, BitSet need) {
        Channels made = flow.channels(tensor);
        // Who reads the shape alone asks for the tensor, but for nothing in it.
        boolean followed =
                rule instanceof ShapeOnly || made.equals(rule.inputs().get(input));
        if (made.none() || !followed) {
            requestWhole(tensor);
        } else {
            request(tensor, need);
        }
    }

    /**
     * Nodes that need some channels of a tensor that holds others too, along several axes: there is no operator that
     * selects these.
     */
    Set<Node> unselectable() {
        Set<Node> found = new HashSet<>();
        needed.forEach((use, need) -> {
            Rule rule = flow.ruleOf(use.node());
            Channels seen = rule.inputs().get(use.input());
            boolean several = seen.axes().size() > 1 && !(rule instanceof ShapeOnly);
            if (several
                    && !isJust(
                            use.node().input(use.input()), seen, need.stream().toArray())) {
                found.add(use.node());
            }
        });
        return found;
    }

    /** Whether what is left of a tensor is just what somebody wants of it. */
    boolean isJust(String tensor, Channels seen, int[] wanted) {
        Kept made = kept(tensor);
        boolean followed = !made.channels().none() && made.channels().equals(seen);
        return followed ? Arrays.equals(made.left(), wanted) : seen.none() || wanted.length == seen.count();
    }

    /** The smallest set of channels that a node can make and that holds those that are asked for. */
    private Kept close(Node node, Rule rule, int output, BitSet wanted) {
        Channels channels = rule.outputs().get(output);
        if (wanted.isEmpty() && !channels.none()) {
            // Only its shape is read, or everything in it is constant but cannot be folded: one channel carries it.
            wanted.set(0);
        }
        return switch (rule) {
            case Mapping mapping -> close(mapping, output, wanted);
            case Product product ->
                options.keeps(node)
                        ? Kept.all(channels)
                        : Kept.of(channels, equallyMany(product.groups(), channels, wanted));
            case Contraction c -> Kept.of(channels, wanted);
            case Recurrence recurrence -> Kept.of(channels, units(node, recurrence));
            case Sum s -> Kept.all(channels);
            case Opaque o -> Kept.all(channels);
            case ShapeOnly s -> Kept.all(channels);
        };
    }

    /** What several channels of the output come from is one channel of the input: they stay or go together. */
    private static Kept close(Mapping rule, int output, BitSet wanted) {
        Kept result = Kept.of(rule.outputs().get(output), wanted);
        int before;
        do {
            before = result.left().length;
            for (int input = 0; input < rule.inputs().size(); input++) {
                int[] map = rule.maps()[input][output];
                if (map != null && !rule.inputs().get(input).none()) {
                    result = close(rule.inputs().get(input), map, result);
                }
            }
        } while (result.left().length > before);
        return result;
    }

    private static Kept close(Channels input, int[] map, Kept output) {
        BitSet sources = Kept.of(input, image(map, output.left())).set();
        BitSet closed = output.set();
        for (int channel = 0; channel < map.length; channel++) {
            if (map[channel] >= 0 && sources.get(map[channel])) {
                closed.set(channel);
            }
        }
        return Kept.of(output.channels(), closed);
    }

    private static BitSet image(int[] map, int[] channels) {
        BitSet image = new BitSet();
        for (int channel : channels) {
            if (map[channel] >= 0) {
                image.set(map[channel]);
            }
        }
        return image;
    }

    /** Groups of a convolution are equally large: one goes as a whole, or keeps as many channels as the others. */
    private static BitSet equallyMany(int groups, Channels channels, BitSet wanted) {
        return groups == 1
                ? wanted
                : Kept.of(new Channels(List.of(0, 1), List.of(groups, channels.count() / groups)), wanted)
                        .set();
    }

    private @Nullable BitSet need(Node node, Rule rule, int input) {
        return switch (rule) {
            case Mapping mapping -> needOfMapping(node, mapping, input);
            case Product product -> needOfProduct(node, product);
            case Contraction contraction -> needOfContraction(node, contraction, input);
            case Recurrence recurrence -> needOfRecurrence(node, recurrence, input);
            case Sum sum -> needOfSum(node, sum);
            case Opaque o -> Kept.all(flow.channels(node.input(input))).set();
            case ShapeOnly s -> new BitSet();
        };
    }

    private @Nullable BitSet needOfMapping(Node node, Mapping rule, int input) {
        BitSet need = new BitSet();
        boolean used = false;
        for (int i = 0; i < node.outputs().size(); i++) {
            int[] map = rule.maps()[input][i];
            if (isLive(node.outputs().get(i)) && map != null) {
                need.or(image(map, kept(node.outputs().get(i)).left()));
                used = true;
            }
        }
        if (!used) {
            return Kept.all(flow.channels(node.input(input))).set();
        }
        boolean spared = switch (rule.spare()) {
            case NONE -> false;
            case CONSTANT -> isConstant(node, rule, input);
            case UNREAD -> need.isEmpty();
        };
        return spared ? null : need;
    }

    /** Whether a constant can take the place of an operand: a branch that carries nothing disappears. */
    private boolean isConstant(Node node, Mapping rule, int input) {
        Channels seen = rule.inputs().get(input);
        if (seen.axes().size() != 1 || node.inputs().size() < 2) {
            return false;
        }
        return !varies(node, rule, input) && anotherHasTheShape(node, rule, input);
    }

    /** Whether any channel that is left of an operand carries no constant. */
    private boolean varies(Node node, Mapping rule, int input) {
        Channels seen = rule.inputs().get(input);
        if (seen.none()) {
            return true;
        }
        double[] values = constants.ofInput(node, input, seen);
        return image(rule.maps()[input][0], kept(node.output()).left()).stream()
                .anyMatch(channel -> Double.isNaN(values[channel]));
    }

    /** Whether the output keeps its shape without an operand; where all are constant, it has it from the first that can. */
    private boolean anotherHasTheShape(Node node, Mapping rule, int input) {
        return IntStream.range(0, node.inputs().size())
                .filter(other -> other < input || (other > input && varies(node, rule, other)))
                .mapToObj(node::input)
                .anyMatch(other ->
                        graph.tensor(other) == null && graph.shape(other).equals(graph.shape(node.output())));
    }

    private BitSet needOfProduct(Node node, Product rule) {
        Channels seen = rule.inputs().getFirst();
        if (options.keeps(node)) {
            return Kept.all(seen).set();
        }
        LayerWeights weights = constants.weights(node, rule);
        BitSet need = new BitSet();
        requested(node.output()).stream().forEach(out -> need.or(weights.read(out)));
        double[] values = constants.ofInput(node, 0, seen);
        int standIn = standIn(need, values);
        need.andNot(Constants.foldable(rule, values));
        if (rule.groups() > 1) {
            // A group of which an output is left has an input, if only for its place.
            weights.groups(kept(node.output()).left()).forEach(group -> {
                int first = group * weights.insPerGroup();
                if (need.get(first, first + weights.insPerGroup()).isEmpty()) {
                    need.set(first);
                }
            });
            return equallyMany(rule.groups(), seen, need);
        }
        return someOf(need, standIn, node.input(0), seen);
    }

    /** Channels that are needed, at least one, and as many as a kernel likes. */
    private BitSet someOf(BitSet need, int standIn, String tensor, Channels seen) {
        if (need.isEmpty()) {
            need.set(standIn);
        }
        roundUp(need, tensor, seen);
        return need;
    }

    /**
     * The channel that is left where none is needed but for its place. One that carries a constant takes no weights to make; best one
     * that is read, for then the reader needs no bias in its place.
     */
    private static int standIn(BitSet read, double[] values) {
        return IntStream.concat(
                        read.stream().filter(channel -> values[channel] != 0), IntStream.range(0, values.length))
                .filter(channel -> !Double.isNaN(values[channel]))
                .findFirst()
                .orElse(0);
    }

    /** The hidden units that somebody reads, others by way of the recurrence among them, and as many of both directions. */
    BitSet units(Node node, Recurrence rule) {
        int hidden = (int) rule.operator().hidden();
        BitSet live = liveUnits(node, rule);
        List<BitSet> directions = IntStream.range(0, rule.operator().directions())
                .mapToObj(direction -> live.get(direction * hidden, (direction + 1) * hidden))
                .toList();
        int most = directions.stream().mapToInt(BitSet::cardinality).max().orElse(1);
        int multiple = options.widths().products();
        BitSet all = new BitSet();
        for (int direction = 0; direction < directions.size(); direction++) {
            BitSet own = directions.get(direction);
            int first = direction * hidden;
            if (!own.isEmpty()) {
                Kept.fill(own, Math.min(Math.ceilDiv(most, multiple) * multiple, hidden)).stream()
                        .forEach(unit -> all.set(first + unit));
            }
        }
        return all;
    }

    /** The units that are asked for, and those that these read; one that is always zero is not read. */
    private BitSet liveUnits(Node node, Recurrence rule) {
        RecurrentUnits weights = constants.units(node, rule);
        BitSet live = new BitSet();
        for (int i = 0; i < node.outputs().size(); i++) {
            String output = node.outputs().get(i);
            if (options.keeps(node) || (isLive(output) && rule.outputs().get(i).none())) {
                live.set(0, weights.count());
            } else if (isLive(output)) {
                live.or(requested(output));
            }
        }
        if (live.isEmpty()) {
            live.set(0);
        }
        BitSet zero = constants.alwaysZero(node, rule);
        Deque<Integer> open = new ArrayDeque<>(live.stream().boxed().toList());
        while (!open.isEmpty()) {
            int unit = open.pop();
            if (!zero.get(unit)) {
                BitSet more = (BitSet) weights.units(unit).clone();
                more.andNot(live);
                more.andNot(zero);
                more.stream().forEach(open::push);
                live.or(more);
            }
        }
        return live;
    }

    private @Nullable BitSet needOfRecurrence(Node node, Recurrence rule, int input) {
        Channels seen = rule.inputs().get(input);
        return switch (input) {
            case 0 -> inputsOfUnits(node, rule, seen);
            case Recurrent.STATES, Recurrent.CELLS ->
                RecurrentRule.startsAtZero(graph, node, input) ? null : units(node, rule);
            default -> Kept.all(flow.channels(node.input(input))).set();
        };
    }

    private BitSet inputsOfUnits(Node node, Recurrence rule, Channels seen) {
        if (options.keeps(node)) {
            return Kept.all(seen).set();
        }
        RecurrentUnits weights = constants.units(node, rule);
        BitSet live = liveUnits(node, rule);
        live.andNot(constants.alwaysZero(node, rule));
        BitSet need = new BitSet();
        live.stream().forEach(unit -> need.or(weights.inputs(unit)));
        double[] values = constants.ofInput(node, 0, seen);
        int standIn = standIn(need, values);
        IntStream.range(0, values.length)
                .filter(in -> !Double.isNaN(values[in]))
                .forEach(need::clear);
        return someOf(need, standIn, node.input(0), seen);
    }

    /** Whatever carries zero adds nothing. */
    private BitSet needOfSum(Node node, Sum rule) {
        Channels seen = rule.inputs().getFirst();
        double[] values = constants.ofInput(node, 0, seen);
        BitSet need = Kept.bits(IntStream.range(0, values.length)
                .filter(channel -> values[channel] != 0)
                .toArray());
        return someOf(need, 0, node.input(0), seen);
    }

    /** Adds channels until there are as many as a kernel likes; not to heads, which have their own lengths. */
    private void roundUp(BitSet channels, String tensor, Channels all) {
        if (all.axes().size() == 1 && !channels.isEmpty()) {
            boolean last = all.axes().getFirst() == graph.shape(tensor).rank() - 1;
            int multiple = last ? options.widths().products() : options.widths().convolutions();
            Kept.fill(channels, Math.min(Math.ceilDiv(channels.cardinality(), multiple) * multiple, all.count()));
        }
    }

    /** The channels that a layer reads of all that are there: what it needs, or what is there, if selecting costs more. */
    int[] selected(Node node, Rule rule, BitSet need) {
        Channels seen = rule.inputs().getFirst();
        String input = node.input(0);
        int[] there = flow.channels(input).equals(seen) ? kept(input).left() : seen.all();
        boolean inParts = rule instanceof Product product && product.groups() > 1;
        return inParts || options.widths().select(need.cardinality(), there.length, multiplications(node, rule))
                ? need.stream().toArray()
                : there;
    }

    /** How often a layer multiplies each element of a channel that it reads. */
    private double multiplications(Node node, Rule rule) {
        return switch (rule) {
            case Product product ->
                (double) kept(node.output()).left().length
                        * constants.weights(node, product).inner();
            case Recurrence recurrence ->
                (double) units(node, recurrence).cardinality()
                        * recurrence.operator().cell().gates();
            case Mapping _, Contraction _, Sum _, Opaque _, ShapeOnly _ -> 1;
        };
    }

    /** Along k both sides need the same: where one is zero, neither is needed. */
    private BitSet needOfContraction(Node node, Contraction rule, int input) {
        Kept output = kept(node.output());
        Channels seen = rule.inputs().get(input);
        if (!rule.inner()) {
            boolean hasOuter = seen.axes().size() == output.channels().axes().size();
            return hasOuter ? output.set() : heads(output, seen.axes().size());
        }
        double[] left = constants.ofInput(node, 0, rule.inputs().get(0));
        double[] right = constants.ofInput(node, 1, rule.inputs().get(1));
        int inner = seen.lengths().getLast();
        BitSet need = new BitSet();
        heads(output, seen.axes().size() - 1).stream().forEach(head -> {
            IntStream.range(head * inner, (head + 1) * inner)
                    .filter(channel -> left[channel] != 0 && right[channel] != 0)
                    .forEach(need::set);
            // A head whose scores are all zero still has a place: one dimension, which is zero.
            if (need.get(head * inner, (head + 1) * inner).isEmpty()) {
                need.set(head * inner);
            }
        });
        return Kept.of(seen, need).set();
    }

    /** The heads of an output, by the first axes of its channels. */
    private static BitSet heads(Kept output, int axes) {
        List<Integer> lengths = output.channels().lengths();
        int rest = lengths.subList(axes, lengths.size()).stream().reduce(1, Math::multiplyExact);
        return Kept.bits(
                Arrays.stream(output.left()).map(channel -> channel / rest).toArray());
    }
}
