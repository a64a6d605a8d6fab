package dev.espalier.graph.onnx;

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
import dev.espalier.graph.op.Foreign;
import dev.espalier.graph.op.Operands;
import dev.espalier.graph.op.Operator;
import dev.espalier.graph.type.Tensor;
import dev.espalier.graph.type.TensorType;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Makes a graph of a file's graph: node by node, each with what is known of its inputs by then. */
final class GraphReader {
    private static final Unary IDENTITY = new Unary(Unary.Function.IDENTITY);

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
    private final Quantized quantized = new Quantized(new QuantizedModel(), tensorNames);
    private final Boxes boxes;
    private final OutputTypes types;

    /**
     * Contents that are known before the model runs.
     *
     * @param tensor the contents
     * @param trained true if they are weights, which training may change; false for constants
     * @param stored true for a constant that the file stores, if only laid out otherwise: it may turn out to be a weight
     */
    private record Known(Tensor tensor, boolean trained, boolean stored) {}

    /** What is known here, for whoever reads codes as the fractions that they stand for. */
    private final class QuantizedModel implements Quantized.Model {
        @Override
        public @Nullable Fact fact(String tensor) {
            return facts.get(tensor);
        }

        @Override
        public @Nullable Tensor contents(String tensor) {
            Known contents = known.get(renamed.getOrDefault(tensor, tensor));
            return contents == null ? null : contents.tensor();
        }

        @Override
        public boolean isUsed(String tensor) {
            return !tensor.isEmpty() && uses.containsKey(tensor);
        }

        @Override
        public String unique(String wanted) {
            return tensorNames.unique(wanted);
        }

        @Override
        public void constant(String name, Tensor contents) {
            remember(name, new Known(contents, false, true));
        }

        @Override
        public void weight(String name, Tensor contents) {
            boolean trained = contents.rank() > 0;
            remember(name, new Known(contents, trained, !trained));
        }

        @Override
        public void use(String weight) {
            uses.merge(weight, 1, Integer::sum);
        }

        @Override
        public void rename(String tensor, String weight) {
            Known contents = known.get(weight);
            if (contents != null && outputs.contains(tensor)) {
                remember(tensor, contents);
            } else {
                renamed.put(tensor, weight);
                uses.merge(weight, uses.getOrDefault(tensor, 0) - 1, Integer::sum);
            }
        }
    }

    /**
     * A reader.
     *
     * @param probe tells types that the file does not; null if nobody does
     * @param folder where external data is; null if there is none
     */
    GraphReader(ModelProto model, TensorDecoder tensors, @Nullable TypeProbe probe, @Nullable Path folder) {
        this.model = model;
        this.tensors = tensors;
        this.boxes = new Boxes(model, tensors);
        this.types = new OutputTypes(model, probe, folder);
    }

    Graph read(List<Call> unsorted) throws IOException {
        GraphProto graph = model.getGraph();
        if (graph.getSparseInitializerCount() > 0) {
            throw new OnnxException(
                    "sparse initializers are not supported; the model has " + graph.getSparseInitializerCount());
        }
        graph.getOutputList().forEach(output -> outputs.add(output.getName()));
        for (TensorProto tensor : graph.getInitializerList()) {
            claim(tensor.getName(), "initializer");
        }
        countUses(unsorted);
        outputs.forEach(output -> uses.merge(output, 1, Integer::sum));
        readInitializers(graph.getInitializerList(), unsorted);
        List<Graph.Input> inputs = readInputs(graph);
        List<Call> calls = CallOrder.sort(unsorted, facts.keySet());
        types.begin(inputs, calls);
        quantized.begin(calls);
        takeNames(calls);
        Folding folding = new Folding(
                known.values().stream().mapToLong(one -> one.tensor().size()).sum());
        for (Call call : calls) {
            read(call, folding);
        }
        for (String output : outputs) {
            readCodes(output, folding);
        }
        return assemble(graph, inputs);
    }

    /** How the codes of an int8 model were read. */
    Dequantization dequantization() {
        return quantized.result();
    }

    private void countUses(List<Call> calls) {
        for (Call call : calls) {
            InnerGraphs.reads(call.node()).forEach(input -> uses.merge(input, 1, Integer::sum));
        }
    }

    private void readInitializers(List<TensorProto> protos, List<Call> calls) throws IOException {
        Set<String> weights = Kinds.weightInputs(calls);
        for (TensorProto proto : protos) {
            String name = proto.getName();
            Tensor tensor = tensors.decode(proto, "initializer " + name);
            Initializer.Kind kind = Kinds.noted(proto);
            if (kind != null) {
                noted.put(name, kind);
            }
            boolean trained = tensor.type().isFloat() && (kind != null || tensor.rank() > 0 || weights.contains(name));
            facts.put(name, Fact.of(tensor));
            known.put(name, new Known(tensor, trained, !trained));
        }
    }

    /** What is fed in; an input that has contents of its own, as old files list them, is none. */
    private List<Graph.Input> readInputs(GraphProto graph) throws OnnxException {
        List<Graph.Input> inputs = new ArrayList<>();
        for (ValueInfoProto info : graph.getInputList()) {
            if (!known.containsKey(info.getName())) {
                Graph.Input input = new Graph.Input(info.getName(), types.ofInput(info));
                claim(input.name(), "input");
                facts.put(input.name(), Fact.of(input.type()));
                inputs.add(input);
            }
        }
        return inputs;
    }

    private void claim(String name, String what) {
        if (name.isEmpty()) {
            throw new GraphException("an " + what + " has no name");
        }
        if (!tensorNames.take(name)) {
            throw new GraphException(what + " " + name + " has a name that another tensor has already");
        }
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
        if (quantized.concerns(call, inputs) && readQuantized(call, wanted, inputs, folding)) {
            return;
        }
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
        if (!foreign && proto.getOpType().equals("If") && decide(call, name, inputs, reading, folding)) {
            return;
        }
        OperatorTable.Expansion expansion =
                foreign ? Contributed.find(proto) : OperatorTable.expansion(proto.getOpType(), reading);
        OperatorTable.Row<?> row = foreign ? null : OperatorTable.find(proto.getOpType());
        if (expansion == null && row == null) {
            keep(call, name, inputs, reading);
            return;
        }
        List<NodeProto> steps = List.of();
        try {
            if (expansion != null) {
                steps = Expansions.expand(expansion, name, proto, reading, tensorNames);
            } else if (row != null) {
                read(row, name, proto, inputs, reading, folding);
            }
        } catch (GraphException unsupported) {
            keepInstead(call, name, inputs, reading, unsupported);
        }
        readInPlace(steps, folding);
    }

    /** Reads a node on fractions in place of one on codes; false if it needs the codes themselves, which are there then. */
    private boolean readQuantized(Call call, String wanted, List<String> inputs, Folding folding) throws IOException {
        NodeReading reading =
                new NodeReading(wanted, call, tensors, operands(wanted, quantized.visible(inputs)), contents(inputs));
        reading.require(call.node().getOutputCount() > 0, "it has no output");
        GraphException unsupported = null;
        try {
            List<Call> steps = quantized.read(wanted, call, inputs, reading);
            if (steps != null) {
                for (Call step : steps) {
                    read(step, folding);
                }
                return true;
            }
        } catch (GraphException problem) {
            unsupported = problem;
        }
        for (String input : InnerGraphs.reads(call.node())) {
            readCodes(renamed.getOrDefault(input, input), folding);
        }
        if (unsupported != null) {
            keepInstead(call, nodeNames.unique(wanted), inputs, reading, unsupported);
        }
        return unsupported != null;
    }

    /** Makes a tensor that was left out because fractions stand for it. */
    private void readCodes(String tensor, Folding folding) throws IOException {
        for (Call step : quantized.made(tensor)) {
            read(step, folding);
        }
    }

    private void read(
            OperatorTable.Row<?> row,
            String name,
            NodeProto proto,
            List<String> inputs,
            NodeReading reading,
            Folding folding)
            throws IOException {
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

    /** A form of a known operator that is not understood is kept like an unknown operator, if somebody else vouches for it. */
    private void keepInstead(
            Call call, String name, List<String> inputs, NodeReading reading, GraphException unsupported)
            throws IOException {
        boolean own = Functions.domain(call.node().getDomain()).isEmpty();
        if (own && (!types.canAsk() || !types.isMade(call.node().getOutputList()))) {
            throw unsupported;
        }
        try {
            keep(call, name, inputs, reading);
        } catch (GraphException alsoNot) {
            unsupported.addSuppressed(alsoNot);
            throw unsupported;
        }
    }

    /** Leaves a node as it is: all that has to be known are the types of what it makes. */
    private void keep(Call call, String name, List<String> inputs, NodeReading reading) throws IOException {
        List<String> captured = List.copyOf(InnerGraphs.captured(call.node()));
        List<String> all = new ArrayList<>(inputs);
        captured.forEach(outside -> all.add(renamed.getOrDefault(outside, outside)));
        List<Optional<TensorType>> read = new ArrayList<>();
        for (String input : all) {
            Fact fact = facts.get(input);
            reading.require(input.isEmpty() || fact != null, "it reads " + input + ", which is no tensor");
            read.add(fact == null ? Optional.empty() : Optional.of(fact.type()));
        }
        List<Optional<TensorType>> made = types.of(call, read, reading);
        Foreign foreign = boxes.read(call, captured, read, made);
        List<String> named = call.node().getOutputList().stream()
                .filter(output -> !output.isEmpty())
                .toList();
        List<Fact> results = foreign.infer(operands(name, all));
        requireSoundShapes(reading, results);
        for (int i = 0; i < results.size(); i++) {
            facts.put(named.get(i), results.get(i));
        }
        nodes.add(new Node(name, foreign, all, named));
    }

    /** Puts the branch in place of a condition that is known; false if it is not. */
    private boolean decide(Call call, String name, List<String> inputs, NodeReading reading, Folding folding)
            throws IOException {
        NodeProto proto = call.node();
        Tensor condition = proto.getInputCount() == 1
                ? contents(List.of(inputs.getFirst())).getFirst()
                : null;
        if (condition == null || condition.size() != 1) {
            return false;
        }
        String key = condition.getLong(0) != 0 ? "then_branch" : "else_branch";
        GraphProto branch = reading.graph(key);
        reading.require(
                branch.getOutputCount() >= proto.getOutputCount() && branch.getInputCount() == 0,
                "its " + key + " takes " + branch.getInputCount() + " inputs and makes " + branch.getOutputCount()
                        + " outputs, but it must take none and make " + proto.getOutputCount());
        reading.require(branch.getSparseInitializerCount() == 0, "sparse initializers are not supported");
        GraphProto bound =
                bind(InnerGraphs.renamed(branch, Map.of(), local -> tensorNames.unique(name + "/" + local)), proto);
        List<Call> calls = new ArrayList<>();
        for (NodeProto inner : bound.getNodeList()) {
            String own = inner.getName().isEmpty() ? "" : name + "/" + inner.getName();
            calls.add(new Call(inner.toBuilder().setName(own).build(), call.opset()));
        }
        for (int i = 0; i < proto.getOutputCount(); i++) {
            String made = bound.getOutput(i).getName();
            if (!proto.getOutput(i).isEmpty() && !proto.getOutput(i).equals(made)) {
                calls.add(new Call(Functions.identity(made, proto.getOutput(i)), call.opset()));
            }
        }
        types.replace(proto, bound, calls);
        InnerGraphs.reads(proto)
                .forEach(input -> uses.computeIfPresent(input, (_, count) -> count > 1 ? count - 1 : null));
        countUses(calls);
        readInitializers(bound.getInitializerList(), calls);
        Set<String> given = new HashSet<>(facts.keySet());
        given.addAll(renamed.keySet());
        for (Call inner : CallOrder.sort(calls, given)) {
            read(inner, folding);
        }
        return true;
    }

    /** A branch whose nodes make the tensors that the node in its place has to make, where it makes them itself. */
    private static GraphProto bind(GraphProto branch, NodeProto node) {
        Set<String> made = new HashSet<>();
        branch.getNodeList().forEach(inner -> made.addAll(inner.getOutputList()));
        Map<String, String> names = new HashMap<>();
        for (int i = 0; i < node.getOutputCount(); i++) {
            String inside = branch.getOutput(i).getName();
            if (made.contains(inside) && !node.getOutput(i).isEmpty()) {
                names.putIfAbsent(inside, node.getOutput(i));
            }
        }
        return InnerGraphs.renamed(branch, Map.of(), local -> names.getOrDefault(local, local));
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
