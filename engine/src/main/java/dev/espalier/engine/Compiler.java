package dev.espalier.engine;

import ai.djl.pytorch.engine.PtNDArray;
import ai.djl.pytorch.engine.PtNDManager;
import dev.espalier.graph.Graph;
import dev.espalier.graph.Initializer;
import dev.espalier.graph.Node;
import dev.espalier.graph.op.Binary;
import dev.espalier.graph.op.ConstantOfShape;
import dev.espalier.graph.op.MatMul;
import dev.espalier.graph.type.Dimension;
import dev.espalier.graph.type.Shape;
import dev.espalier.graph.type.Tensor;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Makes a plan of a graph all of whose shapes are numbers. */
final class Compiler {
    private final Graph graph;
    private final PtNDManager constants;
    private final Function<String, @Nullable PtNDArray> owned;
    private final boolean fused;
    private final Map<String, Integer> slots = new HashMap<>();
    private final List<@Nullable PtNDArray> template = new ArrayList<>();
    private final List<Draft> drafts = new ArrayList<>();

    /** A step of which is not known yet what dies with it. */
    private record Draft(Node node, Kernel kernel, List<Integer> inputs, List<Integer> outputs) {}

    private Compiler(Graph graph, PtNDManager constants, Function<String, @Nullable PtNDArray> owned, boolean fused) {
        this.graph = graph;
        this.constants = constants;
        this.owned = owned;
        this.fused = fused;
    }

    /**
     * The plan of a graph.
     *
     * @param graph the graph
     * @param constants will own what only the plan has
     * @param owned the network's own arrays by the names of initializers; null for what only the plan has
     * @param fused whether attention is computed as a whole, where it can be
     */
    static Plan compile(
            Graph graph, PtNDManager constants, Function<String, @Nullable PtNDArray> owned, boolean fused) {
        return new Compiler(graph, constants, owned, fused).plan();
    }

    private Plan plan() {
        Map<String, Integer> inputs = new HashMap<>();
        graph.inputs().forEach(input -> inputs.put(input.name(), newSlot(input.name(), null)));
        Map<Node, Node> products = biasedProducts();
        Map<Node, Attention> attentions = fused ? Attention.in(graph) : Map.of();
        Set<Node> absorbed = new HashSet<>(products.values());
        attentions.values().forEach(attention -> absorbed.addAll(attention.within()));
        for (Node node : graph.nodes()) {
            Node product = products.get(node);
            Attention attention = attentions.get(node);
            if (attention != null) {
                add(node, attention.kernel(), attention.inputs());
            } else if (product != null) {
                addBiased(product, node);
            } else if (!absorbed.contains(node) && !isConstant(node)) {
                add(node);
            }
        }
        SequencedMap<String, Integer> outputs = new LinkedHashMap<>();
        graph.outputs().forEach(output -> outputs.put(output, slot(output)));
        return new Plan(
                constants, steps(new HashSet<>(outputs.values())), template.toArray(PtNDArray[]::new), inputs, outputs);
    }

    private int newSlot(String tensor, @Nullable PtNDArray array) {
        template.add(array);
        slots.put(tensor, template.size() - 1);
        return template.size() - 1;
    }

    /** The slot of a tensor; initializers and constants get theirs when they are first read. */
    private int slot(String tensor) {
        Integer known = slots.get(tensor);
        if (known != null) {
            return known;
        }
        PtNDArray array = owned.apply(tensor);
        return newSlot(tensor, array != null ? array : Tensors.upload(constants, contents(tensor)));
    }

    private Tensor contents(String tensor) {
        Initializer initializer = graph.initializers().get(tensor);
        Node producer = graph.producer(tensor);
        Tensor contents =
                initializer != null ? initializer.tensor() : producer != null ? constant(producer, tensor) : null;
        if (contents == null) {
            throw new IllegalStateException("tensor " + tensor + " is read before it is made");
        }
        return contents;
    }

    private boolean isConstant(Node node) {
        return node.outputs().stream().allMatch(output -> constant(node, output) != null);
    }

    /** What follows from shapes alone. */
    private @Nullable Tensor constant(Node node, String output) {
        Tensor known = graph.fact(output).constant();
        Shape shape = graph.shape(output);
        if (known == null && node.operator() instanceof ConstantOfShape(Tensor value) && shape.isKnown()) {
            return value.type().isFloat()
                    ? Tensor.compute(value.type(), shape.lengths(), i -> value.getDouble(0))
                    : Tensor.computeLongs(value.type(), shape.lengths(), i -> value.getLong(0));
        }
        return known;
    }

    private void add(Node node) {
        int read = Math.min(node.inputs().size(), Kernels.arrays(node.operator()));
        add(node, Kernels.of(new Site(graph, node, constants)), node.inputs().subList(0, read));
    }

    private void add(Node node, Kernel kernel, List<String> inputs) {
        List<Integer> read =
                inputs.stream().map(input -> input.isEmpty() ? -1 : slot(input)).toList();
        List<Integer> made =
                node.outputs().stream().map(output -> newSlot(output, null)).toList();
        drafts.add(new Draft(node, kernel, read, made));
    }

    /** Sums that add a bias to a product with a matrix, and that product, where nobody else reads it. */
    private Map<Node, Node> biasedProducts() {
        Map<Node, Node> found = new HashMap<>();
        for (Node node : graph.nodes()) {
            if (node.operator().equals(new Binary(Binary.Function.ADD))) {
                for (int i = 0; i < 2; i++) {
                    Node product = graph.producer(node.input(i));
                    if (product != null && !found.containsKey(node) && isBiased(product, node.input(1 - i))) {
                        found.put(node, product);
                    }
                }
            }
        }
        return found;
    }

    private boolean isBiased(Node product, String bias) {
        if (!(product.operator() instanceof MatMul)
                || graph.uses(product.output()).size() != 1
                || graph.isOutput(product.output())) {
            return false;
        }
        Shape weight = graph.shape(product.input(1));
        List<Dimension> added = graph.shape(bias).dimensions();
        return weight.rank() == 2 && graph.shape(product.input(0)).rank() >= 2 && added.equals(List.of(weight.get(1)));
    }

    private void addBiased(Node product, Node sum) {
        String bias = sum.input(0).equals(product.output()) ? sum.input(1) : sum.input(0);
        add(sum, MatrixKernels.linear(false), List.of(product.input(0), product.input(1), bias));
    }

    /** Slots that a step fills die with the last step that reads them; all others are not the plan's to close. */
    private List<Plan.Step> steps(Set<Integer> kept) {
        Map<Integer, Integer> lastUse = new HashMap<>();
        for (int i = 0; i < drafts.size(); i++) {
            for (int slot : drafts.get(i).outputs()) {
                lastUse.put(slot, i);
            }
            for (int slot : drafts.get(i).inputs()) {
                int now = i;
                lastUse.computeIfPresent(slot, (key, before) -> now);
            }
        }
        lastUse.keySet().removeAll(kept);
        Map<Integer, List<Integer>> dying = new HashMap<>();
        lastUse.forEach((slot, step) ->
                dying.computeIfAbsent(step, key -> new ArrayList<>()).add(slot));
        List<Plan.Step> steps = new ArrayList<>();
        for (int i = 0; i < drafts.size(); i++) {
            Draft draft = drafts.get(i);
            steps.add(new Plan.Step(
                    draft.node(),
                    draft.kernel(),
                    ints(draft.inputs()),
                    ints(draft.outputs()),
                    ints(dying.getOrDefault(i, List.of()))));
        }
        return steps;
    }

    private static int[] ints(List<Integer> numbers) {
        return numbers.stream().mapToInt(Integer::intValue).toArray();
    }
}
