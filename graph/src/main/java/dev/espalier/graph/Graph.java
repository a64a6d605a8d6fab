package dev.espalier.graph;

import dev.espalier.graph.op.Fact;
import dev.espalier.graph.op.Foreign;
import dev.espalier.graph.op.Operands;
import dev.espalier.graph.type.Shape;
import dev.espalier.graph.type.Tensor;
import dev.espalier.graph.type.TensorType;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A model: what goes in, what it brings along, what is done, what comes out.
 *
 * <p>A graph is checked when it is made: every tensor has one origin, there is no cycle, and every node accepts the types
 * of its inputs. So whoever holds a graph holds a sound one, with its nodes in an order in which they can be run.
 */
public final class Graph {
    private final String name;
    private final List<Input> inputs;
    private final SequencedMap<String, Initializer> initializers;
    private final List<Node> nodes;
    private final List<String> outputs;
    private final SequencedMap<String, String> metadata;
    private final Map<String, Fact> facts = new HashMap<>();
    private final Map<String, Node> producers = new HashMap<>();
    private final Map<String, List<Use>> uses = new HashMap<>();

    /**
     * What is fed into a model.
     *
     * @param name its name
     * @param type its type
     */
    public record Input(String name, TensorType type) {}

    /**
     * A place where a tensor is read.
     *
     * @param node who reads it
     * @param input as which of its inputs
     */
    public record Use(Node node, int input) {}

    /**
     * A graph.
     *
     * @param name what it is called
     * @param inputs what is fed in
     * @param initializers what it brings along, by name
     * @param nodes what is done, in any order
     * @param outputs the names of the tensors that come out
     * @throws GraphException if it makes no sense
     */
    public Graph(
            String name,
            List<Input> inputs,
            SequencedMap<String, Initializer> initializers,
            List<Node> nodes,
            List<String> outputs) {
        this(name, inputs, initializers, nodes, outputs, Collections.emptyNavigableMap());
    }

    private Graph(
            String name,
            List<Input> inputs,
            SequencedMap<String, Initializer> initializers,
            List<Node> nodes,
            List<String> outputs,
            Map<String, String> metadata) {
        this.name = name;
        this.metadata = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(metadata));
        this.inputs = List.copyOf(inputs);
        this.initializers = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(initializers));
        this.outputs = List.copyOf(outputs);
        inputs.forEach(input -> learn(input.name(), Fact.of(input.type()), "the input"));
        initializers.forEach((key, initializer) -> learn(key, Fact.of(initializer.tensor()), "the initializer"));
        this.nodes = sort(nodes);
        this.nodes.forEach(this::infer);
        for (String output : outputs) {
            if (!facts.containsKey(output)) {
                throw new GraphException("output " + output + " is made by no node" + choices());
            }
        }
    }

    private void learn(String tensor, Fact fact, String origin) {
        if (facts.putIfAbsent(tensor, fact) != null) {
            throw new GraphException(origin + " " + tensor + " has a name that another tensor has already");
        }
    }

    /** Every node behind those whose outputs it reads (Kahn's algorithm), otherwise in the given order. */
    private List<Node> sort(List<Node> unsorted) {
        Set<String> names = new HashSet<>();
        for (Node node : unsorted) {
            if (!names.add(node.name())) {
                throw new GraphException("node " + node + " has a name that another node has already");
            }
            for (String output : node.outputs()) {
                if (facts.containsKey(output) || producers.putIfAbsent(output, node) != null) {
                    throw new GraphException("node " + node + " makes the tensor " + output + ", which exists already");
                }
            }
            for (int i = 0; i < node.inputs().size(); i++) {
                if (node.has(i)) {
                    uses.computeIfAbsent(node.input(i), key -> new ArrayList<>())
                            .add(new Use(node, i));
                }
            }
        }
        Map<Node, Integer> waiting = new HashMap<>();
        Deque<Node> ready = new ArrayDeque<>();
        for (Node node : unsorted) {
            int open = 0;
            for (String input : node.inputs()) {
                if (producers.containsKey(input)) {
                    open++;
                } else if (!input.isEmpty() && !facts.containsKey(input)) {
                    throw new GraphException("node " + node + " reads " + input + ", which nothing makes" + choices());
                }
            }
            waiting.put(node, open);
            if (open == 0) {
                ready.add(node);
            }
        }
        List<Node> sorted = new ArrayList<>();
        while (!ready.isEmpty()) {
            Node node = ready.remove();
            sorted.add(node);
            for (String output : node.outputs()) {
                for (Use use : uses(output)) {
                    if (waiting.merge(use.node(), -1, Integer::sum) == 0) {
                        ready.add(use.node());
                    }
                }
            }
        }
        if (sorted.size() < unsorted.size()) {
            Set<Node> placed = new HashSet<>(sorted);
            Node stuck = unsorted.stream()
                    .filter(node -> !placed.contains(node))
                    .findFirst()
                    .orElseThrow();
            throw new GraphException("node " + stuck + " is on a cycle, or behind one");
        }
        return List.copyOf(sorted);
    }

    private void infer(Node node) {
        try {
            List<Fact> results = infer(node, operands(node));
            for (int i = 0; i < results.size(); i++) {
                learn(node.outputs().get(i), results.get(i), "the output");
            }
        } catch (GraphException alreadyExplained) {
            throw alreadyExplained;
        } catch (IllegalArgumentException | ArithmeticException | IllegalStateException problem) {
            throw new GraphException(node, problem);
        }
    }

    /** What a node makes of its inputs, if their number and that of its outputs is right. */
    static List<Fact> infer(Node node, Operands operands) {
        int count = node.inputs().size();
        int least = node.operator().leastInputs();
        int most = node.operator().mostInputs();
        Operands.require(
                count >= least && count <= most,
                count + " inputs, but it takes " + least
                        + (most == least ? "" : most == Integer.MAX_VALUE ? " or more" : " to " + most));
        List<Fact> results = node.operator().infer(operands);
        Operands.require(
                results.size() == node.outputs().size(),
                node.outputs().size() + " outputs, but it makes " + results.size());
        return results;
    }

    private String choices() {
        return facts.size() + producers.size() <= 20
                ? "; there are " + facts.keySet() + " and " + producers.keySet()
                : "";
    }

    /**
     * What is known of a node's inputs.
     *
     * @param node the node
     * @return one fact for each input
     */
    public Operands operands(Node node) {
        List<@Nullable Fact> known = new ArrayList<>();
        for (String input : node.inputs()) {
            known.add(input.isEmpty() ? null : fact(input));
        }
        return new Operands(known, node.name());
    }

    /**
     * {@return what is known of a tensor}
     *
     * @param tensor its name
     */
    public Fact fact(String tensor) {
        Fact fact = facts.get(tensor);
        if (fact == null) {
            throw new GraphException("there is no tensor " + tensor + choices());
        }
        return fact;
    }

    /**
     * {@return the shape of a tensor}
     *
     * @param tensor its name
     */
    public Shape shape(String tensor) {
        return fact(tensor).shape();
    }

    /**
     * The node that makes a tensor.
     *
     * @param tensor its name
     * @return the node; null for inputs and initializers
     */
    public @Nullable Node producer(String tensor) {
        return producers.get(tensor);
    }

    /**
     * Where a tensor is read.
     *
     * @param tensor its name
     * @return every place, outputs of the graph not counted
     */
    public List<Use> uses(String tensor) {
        return Collections.unmodifiableList(uses.getOrDefault(tensor, List.of()));
    }

    /**
     * Where the elements of a tensor are read, and not only its shape.
     *
     * @param tensor its name
     * @return those of {@link #uses} whose operator needs more than the shape
     */
    public List<Use> readers(String tensor) {
        return uses(tensor).stream()
                .filter(use -> !use.node().operator().readsOnlyShape())
                .toList();
    }

    /**
     * Whether a tensor comes out of the graph.
     *
     * @param tensor its name
     * @return true if it is an output
     */
    public boolean isOutput(String tensor) {
        return outputs.contains(tensor);
    }

    /**
     * The contents of a tensor that the model brings along.
     *
     * @param tensor its name
     * @return its contents; null if it is no initializer
     */
    public @Nullable Tensor tensor(String tensor) {
        Initializer initializer = initializers.get(tensor);
        return initializer == null ? null : initializer.tensor();
    }

    /** {@return what it is called} */
    public String name() {
        return name;
    }

    /**
     * What is fed in.
     *
     * @return the inputs, in order
     */
    public List<Input> inputs() {
        return inputs;
    }

    /**
     * What it brings along.
     *
     * @return all initializers by name, in order
     */
    public SequencedMap<String, Initializer> initializers() {
        return initializers;
    }

    /**
     * The initializers of one kind.
     *
     * @param kind which kind
     * @return their contents by name, in order
     */
    public SequencedMap<String, Tensor> tensors(Initializer.Kind kind) {
        SequencedMap<String, Tensor> found = new LinkedHashMap<>();
        initializers.forEach((key, initializer) -> {
            if (initializer.kind() == kind) {
                found.put(key, initializer.tensor());
            }
        });
        return found;
    }

    /**
     * What is done.
     *
     * @return the nodes, each behind those whose outputs it reads
     */
    public List<Node> nodes() {
        return nodes;
    }

    /**
     * The operators that are kept as their file has them.
     *
     * @return how often each occurs, by its name
     */
    public SortedMap<String, Integer> foreign() {
        SortedMap<String, Integer> found = new TreeMap<>();
        for (Node node : nodes) {
            if (node.operator() instanceof Foreign foreign) {
                found.merge(foreign.label(), 1, Integer::sum);
            }
        }
        return found;
    }

    /**
     * Requires that every operator is known, as training does.
     *
     * @throws GraphException if some are kept as their file has them; it tells all of them
     */
    public void requireKnown() {
        SortedMap<String, Integer> found = foreign();
        if (!found.isEmpty()) {
            throw new GraphException(
                    "%s cannot be trained: it has operators that are only kept as they are, %s. It can be inspected, converted and pruned"
                            .formatted(
                                    name.isEmpty() ? "the model" : name,
                                    found.entrySet().stream()
                                            .map(one -> one.getValue() + " × " + one.getKey())
                                            .collect(Collectors.joining(", "))));
        }
    }

    /**
     * What comes out.
     *
     * @return the names of tensors, in order
     */
    public List<String> outputs() {
        return outputs;
    }

    /**
     * What its maker noted: words that a recogniser reads, what groups it was trained with, and the like. It changes nothing of
     * what is computed, and stays with the model whatever is done to it.
     *
     * @return notes by their keys, in order
     */
    public SequencedMap<String, String> metadata() {
        return metadata;
    }

    /**
     * {@return the same graph with other notes}
     *
     * @param others the notes by their keys
     */
    public Graph withMetadata(Map<String, String> others) {
        return new Graph(name, inputs, initializers, nodes, outputs, others);
    }

    /**
     * The same model, done otherwise: what it is called, what goes in, what comes out and its notes stay.
     *
     * @param otherInitializers what it brings along, by name
     * @param otherNodes what is done, in any order
     * @return the graph
     * @throws GraphException if it makes no sense
     */
    public Graph with(SequencedMap<String, Initializer> otherInitializers, List<Node> otherNodes) {
        return new Graph(name, inputs, otherInitializers, otherNodes, outputs, metadata);
    }

    /**
     * {@return the same graph with other contents of some initializers, as training leaves them}
     *
     * @param changed the new contents by name
     */
    public Graph withTensors(Map<String, Tensor> changed) {
        SequencedMap<String, Initializer> merged = new LinkedHashMap<>(initializers);
        changed.forEach((key, tensor) -> {
            Initializer old = merged.get(key);
            if (old == null) {
                throw new GraphException("there is no initializer " + key);
            }
            merged.put(key, old.with(tensor));
        });
        return with(merged, nodes);
    }

    /**
     * The same graph with numbers in place of some symbolic dimensions of its inputs; all shapes follow.
     *
     * @param symbols numbers by the symbols' names
     * @return the graph
     */
    public Graph withDimensions(Map<String, Long> symbols) {
        return withInputs(inputs.stream()
                .map(input -> new Input(
                        input.name(), input.type().with(bind(input.type().shape(), symbols))))
                .toList());
    }

    private static Shape bind(Shape shape, Map<String, Long> symbols) {
        return new Shape(shape.dimensions().stream()
                .map(dimension -> dimension.with(symbols))
                .toList());
    }

    /**
     * {@return the same graph with other types of its inputs}
     *
     * @param others the inputs
     */
    public Graph withInputs(List<Input> others) {
        return new Graph(name, others, initializers, nodes, outputs, metadata);
    }
}
