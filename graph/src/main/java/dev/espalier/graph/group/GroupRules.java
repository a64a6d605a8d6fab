package dev.espalier.graph.group;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.espalier.core.group.AxisGroups;
import dev.espalier.core.group.JointGroups;
import dev.espalier.core.group.NestedGroups;
import dev.espalier.graph.Graph;
import dev.espalier.graph.GraphException;
import dev.espalier.graph.Node;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SequencedMap;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Which weights of a model are grouped, and how: for every convolution, Gemm, MatMul and recurrent layer that reads a trained
 * weight, one group for each input channel, unless readers of one tensor are joined, attentions are grouped by heads or
 * their dimensions, or residual streams by theirs. A recurrent
 * layer reads its own hidden units, too: a group of these is all weights that read a unit, in the layer and behind it, if nothing
 * but layers reads it. Immutable; rules are added from left to right, and the last one that picks a weight decides.
 *
 * <pre>{@code
 * ModelGroups groups = GroupRules.everything()
 *         .exclude(Selector.nodes("stem.conv"))
 *         .joinConsumers()
 *         .derive(graph);
 * }</pre>
 */
public final class GroupRules {
    /** The key of the note by which a model tells what groups it has; in ONNX files, too. */
    public static final String NOTE = "espalier.groups";

    private static final String READERS = "readers";
    private static final String HEADS = "heads";
    private static final String DIMENSIONS = "dimensions";
    private static final String STREAMS = "streams";
    private static final String WITHOUT = "without";

    private final boolean everything;
    private final List<Rule> rules;
    private final Readers readers;
    private final Attention attention;
    private final boolean streams;

    /** What the groups of an attention are. */
    private enum Attention {
        /** Those of its layers. */
        LAYERS,
        /** Its heads. */
        HEADS,
        /** The dimensions of its heads. */
        DIMENSIONS
    }

    /** What becomes of layers that read the same channels. */
    private enum Readers {
        APART,
        JOINED,
        NESTED
    }

    private record Rule(Selector selector, boolean include) {}

    private record Activation(String tensor, int axis, int channels) {}

    private GroupRules(boolean everything, List<Rule> rules, Readers readers, Attention attention, boolean streams) {
        this.everything = everything;
        this.rules = List.copyOf(rules);
        this.readers = readers;
        this.attention = attention;
        this.streams = streams;
    }

    /** {@return every weight} */
    public static GroupRules everything() {
        return new GroupRules(true, List.of(), Readers.APART, Attention.LAYERS, false);
    }

    /**
     * No weight yet.
     *
     * @return the rules
     */
    public static GroupRules nothing() {
        return new GroupRules(false, List.of(), Readers.APART, Attention.LAYERS, false);
    }

    /**
     * {@return the same, with some weights more}
     *
     * @param selector which
     */
    public GroupRules include(Selector selector) {
        return with(new Rule(selector, true));
    }

    /**
     * {@return the same, without some weights}
     *
     * @param selector which
     */
    public GroupRules exclude(Selector selector) {
        return with(new Rule(selector, false));
    }

    private GroupRules with(Rule rule) {
        List<Rule> longer = new ArrayList<>(rules);
        longer.add(rule);
        return new GroupRules(everything, longer, readers, attention, streams);
    }

    /**
     * The same, with one group for all weights that leave a channel of a tensor, whichever layers they lead to: query, key
     * and value of an attention are the typical case. A channel without such weights is one that nobody listens to.
     *
     * @return the rules
     */
    public GroupRules joinConsumers() {
        return new GroupRules(everything, rules, Readers.JOINED, attention, streams);
    }

    /**
     * The same, with a tree: one group for all weights that leave a channel of a tensor, as of {@link #joinConsumers}, and
     * within it one for each layer that they lead to. So a channel can be ignored by all of its readers, or by some. It takes a
     * penalty that nests, {@link dev.espalier.core.penalty.NestedLasso}; a tensor with one reader has plain groups.
     *
     * @return the rules
     */
    public GroupRules nestConsumers() {
        return new GroupRules(everything, rules, Readers.NESTED, attention, streams);
    }

    /**
     * The same, with one group for each head of an attention, in place of the groups that its matrices otherwise have:
     * what leads into the head (its rows of query, key and value, be they matrices of their own or one) and what leads out of it
     * (the inputs of the output matrix that it feeds). A head whose group is zero can be cut out whole. Attentions of another build
     * than that, or with a matrix that the rules leave out, keep the groups of their layers.
     *
     * @return the rules; not by dimensions, if they were
     */
    public GroupRules groupHeads() {
        return new GroupRules(everything, rules, readers, Attention.HEADS, streams);
    }

    /**
     * The same, with one group for each dimension of each head of an attention, in place of the groups that its matrices otherwise
     * have: what leads into a dimension of the query and of the key that it is multiplied with; and what leads into a dimension of
     * the value and out of it. Where one matrix makes query, key and value, a group is a dimension of all three and what leads out
     * of it. Attentions that are not understood keep the groups of their layers, as of {@link #groupHeads}; so do query and key, or
     * value and output, if the rules leave out one of the two.
     *
     * @return the rules; not by heads, if they were
     */
    public GroupRules groupHeadDimensions() {
        return new GroupRules(everything, rules, readers, Attention.DIMENSIONS, streams);
    }

    /**
     * The same, with one group for each dimension of a residual stream, in place of the groups that its weights otherwise have: all
     * that writes to it (columns of embeddings and of layers, their biases, positions) and the inputs of the layers that read it
     * behind a normalisation. A dimension whose group is zero can be cut out of the whole model, of its embeddings too. It takes a
     * stream that is read through normalisations alone, as of transformers that normalise before their layers (ViT, GPT, LLaMA),
     * and no weight of it may be left out. Such a stream has most of a model's weights, attentions included: those of its layers
     * that neither read nor write it keep their groups. Weight decay, if any, is for the biases in these groups too.
     *
     * @return the rules
     */
    public GroupRules groupStreams() {
        return new GroupRules(everything, rules, readers, attention, true);
    }

    /**
     * Notes in a model that these are its groups: {@link #of} finds them again, also in what is left of it after pruning, and
     * after it was written to a file and read again.
     *
     * @param graph the model
     * @return the model with the note; without one if every weight has groups of its own, as in models without a note
     * @throws IllegalArgumentException if a rule names a node or parameter that the model does not have
     */
    public Graph note(Graph graph) {
        Set<String> grouped = new HashSet<>();
        derive(graph).layers().forEach(layer -> grouped.addAll(layer.parameters()));
        List<String> without = everything().derive(graph).layers().stream()
                .flatMap(layer -> layer.parameters().stream())
                .filter(parameter -> !grouped.contains(parameter))
                .toList();
        SequencedMap<String, String> metadata = new LinkedHashMap<>(graph.metadata());
        if (readers == Readers.APART && attention == Attention.LAYERS && !streams && without.isEmpty()) {
            metadata.remove(NOTE);
        } else {
            ObjectNode note = JsonNodeFactory.instance
                    .objectNode()
                    .put(READERS, readers.name().toLowerCase(Locale.ROOT))
                    .put(HEADS, attention == Attention.HEADS)
                    .put(DIMENSIONS, attention == Attention.DIMENSIONS)
                    .put(STREAMS, streams);
            ArrayNode names = note.putArray(WITHOUT);
            without.forEach(names::add);
            metadata.put(NOTE, note.toString());
        }
        return graph.withMetadata(metadata);
    }

    /**
     * The rules that a model's groups were made by.
     *
     * @param graph the model
     * @return those that were noted in it, {@link #everything} if none were
     * @throws GraphException if the note cannot be understood
     */
    public static GroupRules of(Graph graph) {
        String text = graph.metadata().get(NOTE);
        if (text == null) {
            return everything();
        }
        try {
            JsonNode note = new ObjectMapper().readTree(text);
            Set<String> without = new HashSet<>();
            note.required(WITHOUT).forEach(name -> without.add(name.asText()));
            without.removeIf(name -> graph.tensor(name) == null); // pruned away
            return new GroupRules(
                    true,
                    List.of(new Rule(new Selector.Parameters(without), false)),
                    Readers.valueOf(note.required(READERS).asText().toUpperCase(Locale.ROOT)),
                    note.required(HEADS).asBoolean()
                            ? Attention.HEADS
                            // Files of older versions do not tell: there were no such groups.
                            : note.path(DIMENSIONS).asBoolean() ? Attention.DIMENSIONS : Attention.LAYERS,
                    note.path(STREAMS).asBoolean());
        } catch (JsonProcessingException | IllegalArgumentException unknown) {
            throw new GraphException("the model's metadata has " + NOTE + " = " + text
                    + ", which is no note of groups (" + unknown.getMessage()
                    + "): remove it from the file for a group of each input channel");
        }
    }

    /**
     * Derives the groups of a model.
     *
     * <p>A weight that several nodes read is grouped once, along the axis of the first; nodes that read it along another
     * axis are not counted among its readers. It is left out if the rules leave it out for one of its readers.
     *
     * @param graph the model
     * @return its groups
     * @throws IllegalArgumentException if a rule names a node or parameter that the model does not have
     */
    public ModelGroups derive(Graph graph) {
        rules.forEach(rule -> rule.selector().requireKnown(graph));
        SequencedMap<String, List<InputChannels>> byParameter = new LinkedHashMap<>();
        for (Node node : graph.nodes()) {
            for (InputChannels channels : InputChannels.in(graph, node)) {
                byParameter
                        .computeIfAbsent(channels.parameter(), key -> new ArrayList<>())
                        .add(channels);
            }
        }
        List<LayerGroups> layers = new ArrayList<>(streams ? StreamGroups.in(graph, this::includes) : List.of());
        List<List<InputChannels>> weights = byParameter.values().stream()
                .filter(readers -> readers.stream().allMatch(one -> includes(one.node(), one.parameter())))
                .map(GroupRules::likeFirst)
                .toList();
        layers.addAll(attentions(graph, without(weights, layers)));
        layers.addAll(units(graph, without(weights, layers)));
        List<List<InputChannels>> rest = without(weights, layers);
        layers.addAll(
                readers == Readers.APART ? rest.stream().map(GroupRules::alone).toList() : join(rest));
        List<String> order = List.copyOf(byParameter.keySet());
        layers.sort(Comparator.comparingInt(
                layer -> order.indexOf(layer.parameters().getFirst())));
        return new ModelGroups(layers);
    }

    /** The weights that have no groups yet. */
    private static List<List<InputChannels>> without(List<List<InputChannels>> weights, List<LayerGroups> layers) {
        Set<String> grouped =
                layers.stream().flatMap(layer -> layer.parameters().stream()).collect(Collectors.toSet());
        return weights.stream()
                .filter(readers -> !grouped.contains(readers.getFirst().parameter()))
                .toList();
    }

    private static Set<String> readOnce(List<List<InputChannels>> weights) {
        return weights.stream()
                .filter(readers -> readers.size() == 1)
                .map(readers -> readers.getFirst().parameter())
                .collect(Collectors.toSet());
    }

    /** The recurrent layers whose hidden units are read by weights that are all to be grouped, and read once. */
    private List<LayerGroups> units(Graph graph, List<List<InputChannels>> weights) {
        Set<String> free = new HashSet<>(readOnce(weights));
        List<LayerGroups> found = new ArrayList<>();
        for (HiddenUnits units : HiddenUnits.in(graph)) {
            if (free.containsAll(units.parameters())) {
                units.parameters().forEach(free::remove);
                found.add(joint(units.channels().stream().map(List::of).toList()));
            }
        }
        return found;
    }

    /** The groups of attentions of which all matrices are to be grouped, and read once. */
    private List<LayerGroups> attentions(Graph graph, List<List<InputChannels>> weights) {
        if (attention == Attention.LAYERS) {
            return List.of();
        }
        Set<String> readOnce = readOnce(weights);
        return AttentionHeads.in(graph).stream()
                .flatMap(found -> attention == Attention.HEADS
                        ? Stream.of(found.byHead(graph))
                        : found.byDimension(graph).stream())
                .filter(layer -> readOnce.containsAll(layer.parameters()))
                .toList();
    }

    private boolean includes(Node node, String parameter) {
        return rules.reversed().stream()
                .filter(rule -> rule.selector().picks(node, parameter))
                .map(Rule::include)
                .findFirst()
                .orElse(everything);
    }

    private static List<InputChannels> likeFirst(List<InputChannels> readers) {
        InputChannels first = readers.getFirst();
        return readers.stream()
                .filter(reader ->
                        reader.axis() == first.axis() && reader.groups().equals(first.groups()))
                .toList();
    }

    private static LayerGroups alone(List<InputChannels> readers) {
        return new LayerGroups(List.of(weight(readers)), readers.getFirst().groups());
    }

    private static GroupedWeight weight(List<InputChannels> readers) {
        InputChannels first = readers.getFirst();
        return new GroupedWeight(
                first.parameter(),
                first.axis(),
                readers.stream().map(InputChannels::node).toList());
    }

    /** Weights that read the same channels, side by side, at the place of the first. */
    private List<LayerGroups> join(List<List<InputChannels>> weights) {
        SequencedMap<Object, List<List<InputChannels>>> together = new LinkedHashMap<>();
        for (List<InputChannels> readers : weights) {
            together.computeIfAbsent(key(readers), key -> new ArrayList<>()).add(readers);
        }
        return together.values().stream().map(this::joint).toList();
    }

    /** A shared weight meets several tensors and belongs to none of them alone: it, and arbitrary indices, stay alone. */
    private static Object key(List<InputChannels> readers) {
        InputChannels first = readers.getFirst();
        return readers.size() == 1 && first.groups() instanceof AxisGroups axis
                ? new Activation(first.activation(), first.activationAxis(), axis.count())
                : Map.entry("alone", first.parameter());
    }

    private LayerGroups joint(List<List<InputChannels>> weights) {
        if (weights.size() == 1) {
            return alone(weights.getFirst());
        }
        List<AxisGroups> parts = weights.stream()
                .map(readers -> (AxisGroups) readers.getFirst().groups())
                .toList();
        JointGroups joint = new JointGroups(parts);
        return new LayerGroups(
                weights.stream().map(GroupRules::weight).toList(),
                readers == Readers.NESTED ? NestedGroups.ofParts(joint) : joint);
    }
}
