package dev.espalier.graph.onnx;

import ai.onnx.proto.OnnxMl.GraphProto;
import ai.onnx.proto.OnnxMl.ModelProto;
import ai.onnx.proto.OnnxMl.NodeProto;
import ai.onnx.proto.OnnxMl.TensorProto;
import ai.onnx.proto.OnnxMl.ValueInfoProto;
import dev.espalier.graph.Graph;
import dev.espalier.graph.onnx.Functions.Call;
import dev.espalier.graph.type.Dimension;
import dev.espalier.graph.type.Shape;
import dev.espalier.graph.type.TensorType;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The types of tensors that do not follow from the operators: as the file tells them, or else a {@link TypeProbe}. */
final class OutputTypes {
    private static final String UNKNOWN =
            "it is an operator that is not known here, and the file does not say the type of its output ";

    private final ModelProto model;
    private final @Nullable TypeProbe probe;
    private final @Nullable Path folder;
    private final InputTypes inputTypes;
    private final Map<String, ValueInfoProto> declared = new HashMap<>();
    private final Map<String, TensorType> probed = new HashMap<>();
    private List<Graph.Input> inputs = List.of();
    /** All nodes, as the file has them. */
    private List<Call> calls = List.of();
    /** What was put in place of nodes, and the tensors that came along. */
    private final IdentityHashMap<NodeProto, List<Call>> replaced = new IdentityHashMap<>();

    private final List<TensorProto> initializers = new ArrayList<>();

    OutputTypes(ModelProto model, @Nullable TypeProbe probe, @Nullable Path folder) {
        this.model = model;
        this.probe = probe;
        this.folder = folder;
        this.inputTypes = new InputTypes(model);
        learn(model.getGraph().getValueInfoList());
        learn(model.getGraph().getOutputList());
    }

    private void learn(List<ValueInfoProto> infos) {
        infos.forEach(info -> declared.putIfAbsent(info.getName(), info));
    }

    TensorType ofInput(ValueInfoProto info) throws OnnxException {
        return inputTypes.read(info);
    }

    /** The model that is asked about. */
    void begin(List<Graph.Input> itsInputs, List<Call> itsCalls) {
        inputs = itsInputs;
        calls = itsCalls;
    }

    /** Takes note that a branch stands in place of a node from now on. */
    void replace(NodeProto node, GraphProto branch, List<Call> its) {
        replaced.put(node, its);
        initializers.addAll(branch.getInitializerList());
        learn(branch.getValueInfoList());
    }

    boolean canAsk() {
        return probe != null;
    }

    /** Whether tensors are made by nodes of the model itself, and not by some that it is read as. */
    boolean isMade(Collection<String> tensors) {
        return all(calls).anyMatch(call -> call.node().getOutputList().containsAll(tensors));
    }

    private Stream<Call> all(List<Call> some) {
        return some.stream()
                .flatMap(call -> replaced.containsKey(call.node())
                        ? all(replaced.getOrDefault(call.node(), List.of()))
                        : Stream.of(call));
    }

    /** The types of all outputs of a node, nothing for one that is left out. */
    List<Optional<TensorType>> of(Call call, List<Optional<TensorType>> read, NodeReading reading) throws IOException {
        Set<Dimension> known = new HashSet<>();
        read.forEach(type -> type.ifPresent(one -> known.addAll(one.shape().dimensions())));
        known.removeIf(inputTypes::isAmbiguous);
        List<Optional<TensorType>> types = new ArrayList<>();
        for (String output : call.node().getOutputList()) {
            types.add(output.isEmpty() ? Optional.empty() : Optional.of(type(output, known, reading)));
        }
        return types;
    }

    /** What the file says, if it says all; else what the probe says, if there is one. */
    private TensorType type(String output, Set<Dimension> known, NodeReading reading) throws IOException {
        ValueInfoProto info = declared.get(output);
        Optional<TensorType> told = info == null ? Optional.empty() : inputTypes.declared(info);
        boolean whole = told.isPresent()
                && told.get().shape().dimensions().stream()
                        .allMatch(length -> length.isKnown() || known.contains(length));
        if (!whole && probe != null) {
            try {
                TensorType found = probed(output, probe);
                return own(output, found, known);
            } catch (IllegalStateException refused) {
                if (told.isEmpty()) {
                    throw reading.problem(UNKNOWN + output + "; " + refused.getMessage());
                }
            }
        }
        return own(
                output,
                told.orElseThrow(
                        () -> reading.problem(
                                UNKNOWN + output
                                        + ": run onnx.shape_inference on the model, or give the reader somebody who knows (a TypeProbe)")),
                known);
    }

    private TensorType probed(String output, TypeProbe asked) {
        if (!probed.containsKey(output)) {
            probed.putAll(asked.types(question(output), Optional.ofNullable(folder), inputs));
        }
        TensorType found = probed.get(output);
        if (found == null) {
            throw new IllegalStateException("it is no tensor, or one of a type that is not supported");
        }
        return found;
    }

    /** The model with a tensor, and all others that will be asked for, as its outputs. */
    private byte[] question(String output) {
        Set<String> asked = new LinkedHashSet<>(List.of(output));
        GraphProto.Builder graph = model.getGraph().toBuilder()
                .clearNode()
                .clearOutput()
                .clearValueInfo()
                .addAllInitializer(initializers);
        all(calls).forEach(call -> {
            graph.addNode(call.node());
            if (!OperatorTable.knows(call)) {
                call.node().getOutputList().stream()
                        .filter(name -> !name.isEmpty() && !probed.containsKey(name))
                        .forEach(asked::add);
            }
        });
        asked.forEach(name -> graph.addOutput(ValueInfoProto.newBuilder().setName(name)));
        return model.toBuilder().clearFunctions().setGraph(graph).build().toByteArray();
    }

    /** A length that none of the inputs has is a symbol of its own: names that files give to lengths may be anything. */
    private static TensorType own(String output, TensorType type, Set<Dimension> known) {
        List<Dimension> lengths = new ArrayList<>();
        for (Dimension length : type.shape().dimensions()) {
            boolean trusted = length.isKnown() || known.contains(length);
            lengths.add(trusted ? length : Dimension.symbol(output + ".length" + lengths.size()));
        }
        return type.with(new Shape(lengths));
    }
}
