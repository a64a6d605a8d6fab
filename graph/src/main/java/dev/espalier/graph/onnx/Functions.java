package dev.espalier.graph.onnx;

import ai.onnx.proto.OnnxMl.AttributeProto;
import ai.onnx.proto.OnnxMl.FunctionProto;
import ai.onnx.proto.OnnxMl.GraphProto;
import ai.onnx.proto.OnnxMl.ModelProto;
import ai.onnx.proto.OnnxMl.NodeProto;
import dev.espalier.graph.GraphException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** A model's own functions, put in place of the nodes that call them. */
final class Functions {
    /** The domain of the operators that only ONNX Runtime has. */
    static final String MICROSOFT = "com.microsoft";

    private static final int MOST_DEPTH = 64;
    private static final int MOST_NODES = 1_000_000;

    private final Map<Key, FunctionProto> functions;
    private final List<Call> calls = new ArrayList<>();

    /** A node, and the version of the operators that it speaks. */
    record Call(NodeProto node, int opset) {}

    private record Key(String domain, String name, String overload) {}

    private Functions(Map<Key, FunctionProto> functions) {
        this.functions = functions;
    }

    private static Map<Key, FunctionProto> functions(ModelProto model) throws OnnxException {
        Map<Key, FunctionProto> functions = new HashMap<>();
        for (FunctionProto function : model.getFunctionsList()) {
            Key key = new Key(domain(function.getDomain()), function.getName(), function.getOverload());
            if (functions.putIfAbsent(key, function) != null) {
                throw new OnnxException("the function " + function.getName() + " is defined twice");
            }
        }
        return functions;
    }

    /** All nodes of a model, with the bodies of functions in place of their calls. */
    static List<Call> inline(ModelProto model, int opset) throws OnnxException {
        Functions functions = new Functions(functions(model));
        for (NodeProto node : model.getGraph().getNodeList()) {
            functions.add(node, opset, 0);
        }
        return functions.calls;
    }

    /** The default domain has two names. */
    static String domain(String domain) {
        return domain.equals("ai.onnx") ? "" : domain;
    }

    private void add(NodeProto node, int opset, int depth) throws OnnxException {
        FunctionProto function = functions.get(new Key(domain(node.getDomain()), node.getOpType(), node.getOverload()));
        if (function != null) {
            expand(node, function, depth + 1);
            return;
        }
        if (calls.size() >= MOST_NODES) {
            throw new GraphException("the model has more than " + MOST_NODES + " nodes once its functions are inlined");
        }
        calls.add(new Call(functions.isEmpty() ? node : within(node, opset, depth), opset));
    }

    /** The same in the graphs that a node has within it. */
    private NodeProto within(NodeProto node, int opset, int depth) throws OnnxException {
        NodeProto.Builder copy = node.toBuilder();
        for (AttributeProto.Builder attribute : copy.getAttributeBuilderList()) {
            if (attribute.hasG()) {
                attribute.setG(within(attribute.getG(), opset, depth));
            }
            for (int i = 0; i < attribute.getGraphsCount(); i++) {
                attribute.setGraphs(i, within(attribute.getGraphs(i), opset, depth));
            }
        }
        return copy.build();
    }

    private GraphProto within(GraphProto graph, int opset, int depth) throws OnnxException {
        Functions inner = new Functions(functions);
        for (NodeProto node : graph.getNodeList()) {
            inner.add(node, opset, depth);
        }
        GraphProto.Builder copy = graph.toBuilder().clearNode();
        for (Call call : inner.calls) {
            if (call.opset() != opset && !call.node().getOpType().equals("Identity")) {
                throw new GraphException("node " + call.node().getName() + " ("
                        + call.node().getOpType()
                        + ") is in a function of opset " + call.opset() + " that is called within a graph of opset "
                        + opset + ": export the model anew with one opset");
            }
            copy.addNode(call.node());
        }
        return copy.build();
    }

    private void expand(NodeProto caller, FunctionProto function, int depth) throws OnnxException {
        if (depth > MOST_DEPTH) {
            throw new GraphException("node " + caller.getName() + " calls the function " + function.getName()
                    + " more than " + MOST_DEPTH + " levels deep: it calls itself");
        }
        int opset = Opsets.of("the function " + function.getName(), function.getOpsetImportList());
        String prefix = (caller.getName().isEmpty() ? first(caller) : caller.getName()) + "/";
        Map<String, String> names = bind(caller, function);
        for (NodeProto inner : function.getNodeList()) {
            Map<String, String> outside = new HashMap<>();
            InnerGraphs.captured(inner).forEach(name -> outside.put(name, rename(name, prefix, names)));
            NodeProto.Builder copy =
                    InnerGraphs.renamed(substituted(inner, caller, function), outside, name -> prefix + name)
                            .toBuilder()
                            .clearInput()
                            .clearOutput();
            copy.setName(inner.getName().isEmpty() ? "" : prefix + inner.getName());
            inner.getInputList().forEach(name -> copy.addInput(rename(name, prefix, names)));
            inner.getOutputList().forEach(name -> copy.addOutput(rename(name, prefix, names)));
            add(copy.build(), opset, depth);
        }
    }

    private static String first(NodeProto node) {
        return node.getOutputCount() == 0 ? node.getOpType() : node.getOutput(0);
    }

    /** What the function's inputs and outputs are called outside of it. */
    private Map<String, String> bind(NodeProto caller, FunctionProto function) {
        if (caller.getInputCount() > function.getInputCount() || caller.getOutputCount() > function.getOutputCount()) {
            throw new GraphException("node %s has %d inputs and %d outputs, but the function %s takes %d and makes %d"
                    .formatted(
                            caller.getName(),
                            caller.getInputCount(),
                            caller.getOutputCount(),
                            function.getName(),
                            function.getInputCount(),
                            function.getOutputCount()));
        }
        Map<String, String> names = new HashMap<>();
        for (int i = 0; i < function.getInputCount(); i++) {
            names.put(function.getInput(i), i < caller.getInputCount() ? caller.getInput(i) : "");
        }
        for (int i = 0; i < caller.getOutputCount(); i++) {
            String outside = caller.getOutput(i);
            if (outside.isEmpty()) {
                continue;
            }
            String through = names.putIfAbsent(function.getOutput(i), outside);
            if (through != null) {
                // An input that is handed through, or an output that is listed twice.
                calls.add(new Call(identity(through, outside), Opsets.LEAST));
            }
        }
        return names;
    }

    /** A second name. */
    static NodeProto identity(String from, String to) {
        return NodeProto.newBuilder()
                .setOpType("Identity")
                .addInput(from)
                .addOutput(to)
                .build();
    }

    private static String rename(String name, String prefix, Map<String, String> names) {
        return name.isEmpty() ? "" : names.getOrDefault(name, prefix + name);
    }

    /** A node of a function's body, and what is within it, with the caller's attributes. */
    private static NodeProto substituted(NodeProto inner, NodeProto caller, FunctionProto function) {
        NodeProto.Builder copy = inner.toBuilder().clearAttribute();
        for (AttributeProto attribute : inner.getAttributeList()) {
            AttributeProto.Builder own = attribute.toBuilder();
            if (attribute.hasG()) {
                own.setG(substituted(attribute.getG(), caller, function));
            }
            for (int i = 0; i < attribute.getGraphsCount(); i++) {
                own.setGraphs(i, substituted(attribute.getGraphs(i), caller, function));
            }
            substitute(copy, own.build(), caller, function);
        }
        return copy.build();
    }

    private static GraphProto substituted(GraphProto graph, NodeProto caller, FunctionProto function) {
        GraphProto.Builder copy = graph.toBuilder().clearNode();
        graph.getNodeList().forEach(node -> copy.addNode(substituted(node, caller, function)));
        return copy.build();
    }

    /** An attribute that refers to one of the function's own takes the caller's, or the default. */
    private static void substitute(
            NodeProto.Builder copy, AttributeProto attribute, NodeProto caller, FunctionProto function) {
        String reference = attribute.getRefAttrName();
        if (reference.isEmpty()) {
            copy.addAttribute(attribute);
            return;
        }
        List<AttributeProto> candidates = new ArrayList<>(caller.getAttributeList());
        candidates.addAll(function.getAttributeProtoList());
        candidates.stream()
                .filter(candidate -> candidate.getName().equals(reference))
                .findFirst()
                .ifPresent(found -> copy.addAttribute(
                        found.toBuilder().setName(attribute.getName()).build()));
    }
}
