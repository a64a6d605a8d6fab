package dev.espalier.graph.onnx;

import ai.onnx.proto.OnnxMl.AttributeProto;
import ai.onnx.proto.OnnxMl.FunctionProto;
import ai.onnx.proto.OnnxMl.GraphProto;
import ai.onnx.proto.OnnxMl.ModelProto;
import ai.onnx.proto.OnnxMl.NodeProto;
import ai.onnx.proto.OnnxMl.OperatorSetIdProto;
import ai.onnx.proto.OnnxMl.TensorProto;
import com.google.protobuf.InvalidProtocolBufferException;
import dev.espalier.graph.GraphException;
import dev.espalier.graph.Node;
import dev.espalier.graph.op.Foreign;
import dev.espalier.graph.type.TensorType;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** Operators that are kept as the file has them: nodes become {@link Foreign} ones, and nodes of a file again. */
final class Boxes {
    private final TensorDecoder tensors;
    private final Map<String, Integer> versions = new HashMap<>();

    Boxes(ModelProto model, TensorDecoder tensors) {
        this.tensors = tensors;
        model.getOpsetImportList().forEach(this::learn);
        for (FunctionProto function : model.getFunctionsList()) {
            function.getOpsetImportList().forEach(this::learn);
        }
    }

    private void learn(OperatorSetIdProto entry) {
        versions.merge(Functions.domain(entry.getDomain()), (int) entry.getVersion(), Math::max);
    }

    /** What a node is, with the types of its inputs, captured ones behind its own, and of its outputs. */
    Foreign read(
            Functions.Call call,
            List<String> captured,
            List<Optional<TensorType>> inputs,
            List<Optional<TensorType>> outputs)
            throws IOException {
        NodeProto node = call.node();
        NodeProto.Builder kept = NodeProto.newBuilder();
        for (AttributeProto attribute : node.getAttributeList()) {
            kept.addAttribute(within(attribute));
        }
        return new Foreign(
                Functions.domain(node.getDomain()),
                node.getOpType(),
                opsets(call),
                new Foreign.Attributes(kept.build().toByteArray()),
                captured,
                inputs,
                outputs);
    }

    private SortedMap<String, Integer> opsets(Functions.Call call) {
        SortedMap<String, Integer> opsets = new TreeMap<>();
        InnerGraphs.visit(call.node(), node -> {
            String domain = Functions.domain(node.getDomain());
            // ONNX Runtime knows its own domain whether or not a model imports it.
            Integer version = domain.isEmpty()
                    ? Integer.valueOf(call.opset())
                    : domain.equals(Functions.MICROSOFT) ? versions.getOrDefault(domain, 1) : versions.get(domain);
            if (version == null) {
                throw new GraphException("node " + node.getName() + " (" + node.getOpType()
                        + "): the model does not import its domain " + domain);
            }
            opsets.put(domain, version);
        });
        return opsets;
    }

    /** The same with contents in place of references to another file, which is not there any more when a model is written. */
    private AttributeProto within(AttributeProto attribute) throws IOException {
        AttributeProto.Builder copy = attribute.toBuilder();
        if (attribute.hasT()) {
            copy.setT(within(attribute.getT()));
        }
        for (int i = 0; i < attribute.getTensorsCount(); i++) {
            copy.setTensors(i, within(attribute.getTensors(i)));
        }
        if (attribute.hasG()) {
            copy.setG(within(attribute.getG()));
        }
        for (int i = 0; i < attribute.getGraphsCount(); i++) {
            copy.setGraphs(i, within(attribute.getGraphs(i)));
        }
        return copy.build();
    }

    private GraphProto within(GraphProto graph) throws IOException {
        GraphProto.Builder copy = graph.toBuilder();
        for (int i = 0; i < graph.getInitializerCount(); i++) {
            copy.setInitializer(i, within(graph.getInitializer(i)));
        }
        for (NodeProto.Builder node : copy.getNodeBuilderList()) {
            for (int i = 0; i < node.getAttributeCount(); i++) {
                node.setAttribute(i, within(node.getAttribute(i)));
            }
        }
        return copy.build();
    }

    private TensorProto within(TensorProto tensor) throws IOException {
        return tensor.getDataLocation() == TensorProto.DataLocation.EXTERNAL
                ? TensorEncoder.inline(tensor.getName(), tensors.decode(tensor, "tensor " + tensor.getName()))
                        .build()
                : tensor;
    }

    /** The node as its file had it, but with the names that tensors have now. */
    static NodeProto write(Node node, Foreign foreign, Names tensorNames) {
        Map<String, String> outside = new HashMap<>();
        for (int i = 0; i < foreign.captured().size(); i++) {
            outside.put(foreign.captured().get(i), node.input(foreign.ownInputs() + i));
        }
        NodeProto.Builder written = InnerGraphs.renamed(stored(foreign), outside, tensorNames::unique).toBuilder()
                .setName(node.name())
                .setOpType(foreign.name())
                .setDomain(foreign.domain())
                .addAllInput(node.inputs().subList(0, foreign.ownInputs()));
        int next = 0;
        for (Optional<TensorType> output : foreign.outputs()) {
            written.addOutput(output.isEmpty() ? "" : node.outputs().get(next++));
        }
        return written.build();
    }

    private static NodeProto stored(Foreign foreign) {
        try {
            return NodeProto.parseFrom(foreign.attributes().bytes());
        } catch (InvalidProtocolBufferException broken) {
            throw new IllegalStateException(
                    "the attributes of " + foreign.label() + " are no attributes of ONNX", broken);
        }
    }

    /** The version of the default domain's operators that an operator needs at least; 0 if it has none of them. */
    static int leastOpset(Foreign foreign) {
        return foreign.opsets().getOrDefault("", 0);
    }

    /** Why an operator cannot be written in a version; null if it can. */
    static @Nullable String objection(Foreign foreign, int opset) {
        int own = leastOpset(foreign);
        if (own == 0) {
            return null;
        }
        if (own > opset) {
            return "it is kept as opset " + own + " has it";
        }
        TreeSet<String> changed = new TreeSet<>();
        NodeProto whole = stored(foreign).toBuilder()
                .setOpType(foreign.name())
                .setDomain(foreign.domain())
                .build();
        InnerGraphs.visit(whole, node -> {
            if (Functions.domain(node.getDomain()).isEmpty() && Upgrades.isOther(node.getOpType(), own, opset)) {
                changed.add(node.getOpType());
            }
        });
        return changed.isEmpty()
                ? null
                : "it is kept as opset " + own + " has it, and " + String.join(", ", new ArrayList<>(changed))
                        + " is another operator since";
    }
}
