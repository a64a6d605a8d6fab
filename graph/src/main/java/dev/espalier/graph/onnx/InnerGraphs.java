package dev.espalier.graph.onnx;

import ai.onnx.proto.OnnxMl.AttributeProto;
import ai.onnx.proto.OnnxMl.GraphProto;
import ai.onnx.proto.OnnxMl.NodeProto;
import ai.onnx.proto.OnnxMl.SparseTensorProto;
import ai.onnx.proto.OnnxMl.TensorProto;
import ai.onnx.proto.OnnxMl.ValueInfoProto;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.SequencedSet;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

/**
 * Graphs that nodes have as attributes: branches, and bodies of loops. They read tensors from outside by their names, without
 * listing them anywhere.
 */
final class InnerGraphs {
    private InnerGraphs() {}

    /** All graphs that are attributes of a node. */
    static List<GraphProto> of(NodeProto node) {
        List<GraphProto> graphs = new ArrayList<>();
        for (AttributeProto attribute : node.getAttributeList()) {
            if (attribute.hasG()) {
                graphs.add(attribute.getG());
            }
            graphs.addAll(attribute.getGraphsList());
        }
        return graphs;
    }

    /** Shows a node, and all nodes of graphs within it. */
    static void visit(NodeProto node, Consumer<NodeProto> visitor) {
        visitor.accept(node);
        for (GraphProto graph : of(node)) {
            graph.getNodeList().forEach(inner -> visit(inner, visitor));
        }
    }

    /** All tensors that a node reads: its inputs, and what graphs within it read from outside. */
    static List<String> reads(NodeProto node) {
        List<String> all = new ArrayList<>(node.getInputList());
        all.addAll(captured(node));
        return all;
    }

    /** The tensors that graphs within a node read from outside, each once, in the order of first use. */
    static SequencedSet<String> captured(NodeProto node) {
        SequencedSet<String> names = new LinkedHashSet<>();
        for (GraphProto graph : of(node)) {
            Set<String> own = locals(graph);
            for (NodeProto inner : graph.getNodeList()) {
                names.addAll(without(reads(inner), own));
            }
            names.addAll(without(
                    graph.getOutputList().stream().map(ValueInfoProto::getName).toList(), own));
        }
        return names;
    }

    private static List<String> without(List<String> names, Set<String> own) {
        return names.stream()
                .filter(name -> !name.isEmpty() && !own.contains(name))
                .toList();
    }

    /** The tensors that a graph has of its own. */
    static Set<String> locals(GraphProto graph) {
        Set<String> own = new HashSet<>();
        graph.getInputList().forEach(input -> own.add(input.getName()));
        graph.getInitializerList().forEach(tensor -> own.add(tensor.getName()));
        graph.getSparseInitializerList()
                .forEach(tensor -> own.add(tensor.getValues().getName()));
        graph.getNodeList().forEach(node -> own.addAll(node.getOutputList()));
        own.remove("");
        return own;
    }

    /**
     * The same node with graphs in which tensors have other names.
     *
     * @param node the node; its own inputs and outputs stay
     * @param outside other names of some tensors that are read from outside
     * @param local what the tensors of the graphs themselves shall be called
     */
    static NodeProto renamed(NodeProto node, Map<String, String> outside, UnaryOperator<String> local) {
        if (of(node).isEmpty()) {
            return node;
        }
        NodeProto.Builder copy = node.toBuilder();
        for (AttributeProto.Builder attribute : copy.getAttributeBuilderList()) {
            if (attribute.hasG()) {
                attribute.setG(renamed(attribute.getG(), outside, local));
            }
            for (int i = 0; i < attribute.getGraphsCount(); i++) {
                attribute.setGraphs(i, renamed(attribute.getGraphs(i), outside, local));
            }
        }
        return copy.build();
    }

    /** The same graph in which tensors have other names. */
    static GraphProto renamed(GraphProto graph, Map<String, String> outside, UnaryOperator<String> local) {
        Map<String, String> names = new HashMap<>(outside);
        locals(graph).stream().sorted().forEach(own -> names.put(own, local.apply(own)));
        GraphProto.Builder copy = graph.toBuilder();
        copy.getInputBuilderList().forEach(input -> input.setName(now(input.getName(), names)));
        copy.getOutputBuilderList().forEach(output -> output.setName(now(output.getName(), names)));
        copy.getValueInfoBuilderList().forEach(info -> info.setName(now(info.getName(), names)));
        copy.getInitializerBuilderList().forEach(tensor -> tensor.setName(now(tensor.getName(), names)));
        for (SparseTensorProto.Builder sparse : copy.getSparseInitializerBuilderList()) {
            TensorProto.Builder values = sparse.getValuesBuilder();
            values.setName(now(values.getName(), names));
        }
        copy.getQuantizationAnnotationBuilderList()
                .forEach(note -> note.setTensorName(now(note.getTensorName(), names)));
        for (int i = 0; i < graph.getNodeCount(); i++) {
            copy.setNode(i, renamedWhole(graph.getNode(i), names, local));
        }
        return copy.build();
    }

    private static NodeProto renamedWhole(NodeProto node, Map<String, String> names, UnaryOperator<String> local) {
        NodeProto.Builder copy =
                renamed(node, names, local).toBuilder().clearInput().clearOutput();
        node.getInputList().forEach(name -> copy.addInput(now(name, names)));
        node.getOutputList().forEach(name -> copy.addOutput(now(name, names)));
        return copy.build();
    }

    private static String now(String name, Map<String, String> names) {
        return names.getOrDefault(name, name);
    }
}
