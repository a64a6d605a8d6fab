package dev.espalier.graph.onnx;

import ai.onnx.proto.OnnxMl.AttributeProto;
import ai.onnx.proto.OnnxMl.GraphProto;
import ai.onnx.proto.OnnxMl.ModelProto;
import ai.onnx.proto.OnnxMl.NodeProto;
import ai.onnx.proto.OnnxMl.TensorProto;
import ai.onnx.proto.OnnxMl.ValueInfoProto;
import dev.espalier.graph.Graph;
import dev.espalier.graph.GraphException;
import dev.espalier.graph.Initializer;
import dev.espalier.graph.Node;
import dev.espalier.graph.onnx.Functions.Call;
import dev.espalier.graph.op.Elementwise.Unary;
import dev.espalier.graph.op.Fact;
import dev.espalier.graph.op.Operands;
import dev.espalier.graph.op.Operator;
import dev.espalier.graph.type.Tensor;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Makes a graph of a file's graph: node by node, each with what is known of its inputs by then. */
final class GraphReader {
    private static final Unary IDENTITY = new Unary(Unary.Function.IDENTITY);
    private static final Set<String> CONTROL_FLOW = Set.of("If", "Loop", "Scan", "SequenceMap");

    private final ModelProto model;
    private final TensorDecoder tensors;
    private final Names tensorNames = new Names();
    private final Names nodeNames = new Names();
    private final Map<String, Fact> facts = new HashMap<>();
    private final SequencedMap<String, Known> known = new LinkedHashMap<>();
    private final Map<String, String> renamed = new HashMap<>();
    private final Map<String, Integer> uses = new HashMap<>();
    private final Set<String> outputs = new HashSet<>();
    private final List<Node> nodes = new ArrayList<>();
    private final Sequences sequences = new Sequences(tensorNames);
    private final Map<String, Initializer.Kind> noted = new HashMap<>();

    /**
     * Contents that are known before the model runs.
     *
     * @param tensor the contents
     * @param trained true if they are weights, which training may change; false for constants
     * @param stored true for a constant that the file stores, if only laid out otherwise: it may turn out to be a weight
     */
    private record Known(Tensor tensor, boolean trained, boolean stored) {}

    GraphReader(ModelProto model, TensorDecoder tensors) {
        this.model = model;
        this.tensors = tensors;
    }

    Graph read(List<Call> unsorted) throws IOException {
        GraphProto graph = model.getGraph();
        if (graph.getSparseInitializerCount() > 0) {
            throw new OnnxException(
                    "sparse initializers are not supported; the model has " + graph.getSparseInitializerCount());
        }
        graph.getOutputList().forEach(output -> outputs.add(output.getName()));
        countUses(unsorted);
        readInitializers(graph, unsorted);
        List<Graph.Input> inputs = readInputs(graph);
        List<Call> calls = CallOrder.sort(unsorted, facts.keySet());
        takeNames(calls);
        Folding folding = new Folding(
                known.values().stream().mapToLong(one -> one.tensor().size()).sum());
        for (Call call : calls) {
            read(call, folding);
        }
        return assemble(graph, inputs);
    }

    private void countUses(List<Call> calls) {
        for (Call call : calls) {
            call.node().getInputList().forEach(input -> uses.merge(input, 1, Integer::sum));
        }
        outputs.forEach(output -> uses.merge(output, 1, Integer::sum));
    }

    private void readInitializers(GraphProto graph, List<Call> calls) throws IOException {
        Set<String> weights = Kinds.weightInputs(calls);
        for (TensorProto proto : graph.getInitializerList()) {
            String name = proto.getName();
            Tensor tensor = tensors.decode(proto, "initializer " + name);
            Initializer.Kind kind = Kinds.noted(proto);
            if (kind != null) {
                noted.put(name, kind);
            }
            boolean trained = tensor.type().isFloat() && (kind != null || tensor.rank() > 0 || weights.contains(name));
            learn(name, Fact.of(tensor), "initializer");
            known.put(name, new Known(tensor, trained, !trained));
        }
    }

    /** What is fed in; an input that has contents of its own, as old files list them, is none. */
    private List<Graph.Input> readInputs(GraphProto graph) throws OnnxException {
        InputTypes types = new InputTypes(model);
        List<Graph.Input> inputs = new ArrayList<>();
        for (ValueInfoProto info : graph.getInputList()) {
            if (!known.containsKey(info.getName())) {
                Graph.Input input = new Graph.Input(info.getName(), types.read(info));
                learn(input.name(), Fact.of(input.type()), "input");
                inputs.add(input);
            }
        }
        return inputs;
    }

    private void learn(String name, Fact fact, String what) {
        if (name.isEmpty()) {
            throw new GraphException("an " + what + " has no name");
        }
        if (!tensorNames.take(name)) {
            throw new GraphException(what + " " + name + " has a name that another tensor has already");
        }
        facts.put(name, fact);
    }

    /** Before any name is made up: those that the file gives must stay free for their owners. */
    private void takeNames(List<Call> calls) {
        for (Call call : calls) {
            for (String output : call.node().getOutputList()) {
                if (!output.isEmpty() && !tensorNames.take(output)) {
                    throw new GraphException("node " + call.node().getName() + " ("
                            + call.node().getOpType() + ") makes the tensor " + output + ", which exists already");
                }
            }
        }
    }

    private void read(Call call, Folding folding) throws IOException {
        NodeProto proto = call.node();
        String wanted = proto.getName().isEmpty() ? proto.getOpType() + "_" + (nodes.size() + 1) : proto.getName();
        List<String> inputs = proto.getInputList().stream()
                .map(input -> renamed.getOrDefault(input, input))
                .toList();
        OperatorTable.@Nullable Expansion upgrade = Upgrades.of(call);
        if (upgrade != null) {
            NodeReading old = new NodeReading(wanted, call, tensors, operands(wanted, inputs), contents(inputs));
            readInPlace(Expansions.expand(upgrade, wanted, proto, old, tensorNames), folding);
            return;
        }
        String name = nodeNames.unique(wanted);
        NodeReading reading = new NodeReading(name, call, tensors, operands(name, inputs), contents(inputs));
        if (proto.getOpType().equals("Constant")
                && Functions.domain(proto.getDomain()).isEmpty()) {
            constant(proto, reading);
            return;
        }
        reading.require(proto.getOutputCount() > 0, "it has no output");
        boolean foreign = !Functions.domain(proto.getDomain()).isEmpty();
        if (!foreign && Sequences.OPERATORS.contains(proto.getOpType())) {
            read(new Call(sequences.replace(name, proto, reading), Expansions.OPSET), folding);
            return;
        }
        sequences.refuseElsewhere(proto, reading);
        OperatorTable.Expansion expansion = foreign ? null : OperatorTable.expansion(proto.getOpType());
        if (expansion != null) {
            readInPlace(Expansions.expand(expansion, name, proto, reading, tensorNames), folding);
            return;
        }
        OperatorTable.Row<?> row = row(name, proto);
        try {
            Operator operator = row.reading().read(reading);
            List<String> kept = kept(row.arrangement().of(inputs), row.kept(), operator);
            List<Fact> results = operator.infer(operands(name, kept));
            Node node = new Node(name, operator, kept, outputs(reading, proto, operator, results));
            requireSoundShapes(reading, results);
            place(node, results, folding);
        } catch (GraphException alreadyExplained) {
            throw alreadyExplained;
        } catch (IllegalArgumentException
                | ArithmeticException
                | IllegalStateException
                | IndexOutOfBoundsException problem) {
            throw reading.explained(problem);
        }
    }

    private void readInPlace(List<NodeProto> steps, Folding folding) throws IOException {
        for (NodeProto step : steps) {
            read(new Call(step, Expansions.OPSET), folding);
        }
    }

    private Operands operands(String name, List<String> inputs) {
        List<@Nullable Fact> facts = new ArrayList<>();
        for (String input : inputs) {
            facts.add(input.isEmpty() ? null : this.facts.get(input));
        }
        return new Operands(facts, name);
    }

    private List<@Nullable Tensor> contents(List<String> inputs) {
        List<@Nullable Tensor> contents = new ArrayList<>();
        for (String input : inputs) {
            Known one = known.get(input);
            contents.add(one == null ? null : one.tensor());
        }
        return contents;
    }

    private void constant(NodeProto proto, NodeReading reading) throws IOException {
        reading.require(proto.getOutputCount() == 1, "it must have one output but has " + proto.getOutputCount());
        // We write weights as initializers, so that what we write as a constant is one.
        boolean stored = !model.getProducerName().equals(OnnxWriter.PRODUCER);
        remember(proto.getOutput(0), new Known(reading.constantValue(), false, stored));
    }

    private void remember(String output, Known contents) {
        known.put(output, contents);
        facts.put(output, Fact.of(contents.tensor()));
    }

    private static OperatorTable.Row<?> row(String name, NodeProto proto) {
        String what = "node " + name + " (" + proto.getOpType() + "): ";
        boolean subgraph = CONTROL_FLOW.contains(proto.getOpType())
                || proto.getAttributeList().stream().anyMatch(AttributeProto::hasG);
        if (subgraph) {
            throw new GraphException(what + "it runs a graph of its own, and control flow is not supported");
        }
        boolean foreign = !Functions.domain(proto.getDomain()).isEmpty();
        OperatorTable.Row<?> row = foreign ? null : OperatorTable.find(proto.getOpType());
        if (row == null) {
            throw new GraphException(what + "the operator " + (foreign ? proto.getDomain() + "::" : "")
                    + proto.getOpType() + " is not supported; supported are " + OperatorTable.names());
        }
        return row;
    }

    /** The inputs that stay inputs, without those at the end that are left out. */
    private static List<String> kept(List<String> inputs, int most, Operator operator) {
        int count = Math.min(inputs.size(), most);
        while (count > operator.leastInputs() && inputs.get(count - 1).isEmpty()) {
            count--;
        }
        if (inputs.size() < operator.leastInputs()) {
            throw new IllegalArgumentException(
                    inputs.size() + " inputs, but it takes at least " + operator.leastInputs());
        }
        return inputs.subList(0, count);
    }

    /** As many outputs as the operator makes; further ones, such as a mask or indices, must be of no use to anyone. */
    private List<String> outputs(NodeReading reading, NodeProto proto, Operator operator, List<Fact> results) {
        reading.require(
                proto.getOutputCount() >= results.size() - operator.optionalOutputs(),
                "it has " + proto.getOutputCount() + " outputs but makes " + results.size());
        for (int i = results.size(); i < proto.getOutputCount(); i++) {
            reading.require(
                    proto.getOutput(i).isEmpty() || !uses.containsKey(proto.getOutput(i)),
                    "its output " + i + ", " + proto.getOutput(i) + ", is used, but only the first " + results.size()
                            + " of its outputs are supported");
        }
        List<String> names = new ArrayList<>();
        for (int i = 0; i < results.size(); i++) {
            String output = i < proto.getOutputCount() ? proto.getOutput(i) : "";
            names.add(output.isEmpty() ? tensorNames.unique(proto.getOpType() + "/unused") : output);
        }
        return names;
    }

    private static void requireSoundShapes(NodeReading reading, List<Fact> results) {
        for (Fact result : results) {
            reading.require(
                    result.shape().rank() <= TensorDecoder.MOST_AXES,
                    "its output has " + result.shape().rank() + " axes; there may be at most "
                            + TensorDecoder.MOST_AXES);
            reading.require(
                    result.shape().dimensions().stream().allMatch(length -> !length.isKnown() || length.value() >= 0),
                    "its output has the shape " + result.shape() + ", but no length may be below 0");
        }
    }

    /** Folds a node away if that can be done; otherwise it becomes part of the graph. */
    private void place(Node node, List<Fact> results, Folding folding) {
        if (node.operator().equals(IDENTITY) && removeIdentity(node)) {
            return;
        }
        List<Tensor> constants = Folding.shapes(results);
        if (constants == null && isConstant(node)) {
            constants = folding.fold(
                    node.operator(), operands(node.name(), node.inputs()), results, contents(node.inputs()));
        }
        if (constants != null) {
            boolean stored = isStoredLayout(node);
            for (int i = 0; i < constants.size(); i++) {
                remember(node.outputs().get(i), new Known(constants.get(i), false, stored));
            }
            return;
        }
        if (foldWeight(node, results, folding)) {
            return;
        }
        for (int i = 0; i < results.size(); i++) {
            facts.put(node.outputs().get(i), results.get(i));
        }
        nodes.add(node);
    }

    /**
     * An identity of contents that are known is a tensor of its own: exporters store equal tensors once. Any other is a
     * second name, which only an output of the graph needs.
     */
    private boolean removeIdentity(Node node) {
        Known contents = known.get(node.input(0));
        if (contents != null) {
            remember(node.output(), contents);
            return true;
        }
        if (outputs.contains(node.output())) {
            return false;
        }
        renamed.put(node.output(), node.input(0));
        return true;
    }

    private boolean isConstant(Node node) {
        return !node.inputs().isEmpty()
                && node.inputs().stream().allMatch(input -> {
                    Known contents = known.get(input);
                    return input.isEmpty() || (contents != null && !contents.trained());
                });
    }

    private boolean isStoredLayout(Node node) {
        Known contents = node.inputs().isEmpty() ? null : known.get(node.input(0));
        return contents != null && contents.stored() && Folding.isLayout(node.operator());
    }

    /** A weight that is only read to be laid out otherwise is stored as it is needed, under its own name. */
    private boolean foldWeight(Node node, List<Fact> results, Folding folding) {
        String weight = node.input(0);
        Known contents = known.get(weight);
        boolean alone = contents != null
                && contents.trained()
                && Folding.isLayout(node.operator())
                && uses.getOrDefault(weight, 0) == 1
                && !outputs.contains(node.output())
                && node.inputs().stream().skip(1).allMatch(known::containsKey);
        if (!alone) {
            return false;
        }
        List<Tensor> folded =
                folding.fold(node.operator(), operands(node.name(), node.inputs()), results, contents(node.inputs()));
        if (folded == null || !folded.getFirst().type().isFloat()) {
            return false;
        }
        remember(weight, new Known(folded.getFirst(), true, true));
        uses.put(weight, uses.getOrDefault(node.output(), 0));
        renamed.put(node.output(), weight);
        return true;
    }

    private Graph assemble(GraphProto graph, List<Graph.Input> inputs) {
        List<String> names =
                graph.getOutputList().stream().map(ValueInfoProto::getName).toList();
        Set<String> needed = new HashSet<>(names);
        List<Node> live = new ArrayList<>();
        for (Node node : nodes.reversed()) {
            if (node.outputs().stream().anyMatch(needed::contains)) {
                needed.addAll(node.inputs());
                live.add(node);
            }
        }
        Collections.reverse(live);
        Map<String, List<Graph.Use>> readers = Kinds.readers(live);
        SequencedMap<String, Initializer> initializers = new LinkedHashMap<>();
        known.forEach((name, contents) -> {
            if (needed.contains(name)) {
                initializers.put(name, new Initializer(contents.tensor(), kind(name, contents, readers)));
            }
        });
        return new Graph(graph.getName(), inputs, initializers, live, names);
    }

    private Initializer.Kind kind(String name, Known contents, Map<String, List<Graph.Use>> readers) {
        Initializer.Kind kind = noted.get(name);
        if (kind != null && contents.trained()) {
            return kind;
        }
        List<Graph.Use> uses = readers.getOrDefault(name, List.of());
        boolean weight =
                contents.trained() || (kind == null && contents.stored() && Kinds.isWeight(contents.tensor(), uses));
        return weight ? Kinds.ofWeight(uses) : Initializer.Kind.CONSTANT;
    }
}
