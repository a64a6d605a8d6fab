package dev.espalier.graph.onnx;

import ai.onnx.proto.OnnxMl.GraphProto;
import ai.onnx.proto.OnnxMl.ModelProto;
import ai.onnx.proto.OnnxMl.OperatorSetIdProto;
import ai.onnx.proto.OnnxMl.StringStringEntryProto;
import ai.onnx.proto.OnnxMl.TensorProto;
import ai.onnx.proto.OnnxMl.TensorShapeProto;
import ai.onnx.proto.OnnxMl.TypeProto;
import ai.onnx.proto.OnnxMl.ValueInfoProto;
import dev.espalier.graph.Graph;
import dev.espalier.graph.GraphException;
import dev.espalier.graph.Initializer;
import dev.espalier.graph.Node;
import dev.espalier.graph.type.Dimension;
import dev.espalier.graph.type.TensorType;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Pattern;

/** Makes a file's model of a graph. */
final class GraphWriter {
    /** What may stand in a file as the name of a length; a formula may not. */
    private static final Pattern PLAIN = Pattern.compile("[A-Za-z_][A-Za-z0-9_.:/'-]*");

    private final Graph graph;
    private final OnnxWriter.Options options;
    private final ExternalStore store;
    private final Names tensorNames = new Names();
    private final Names nodeNames = new Names();

    GraphWriter(Graph graph, OnnxWriter.Options options, ExternalStore store) {
        this.graph = graph;
        this.options = options;
        this.store = store;
    }

    ModelProto write() {
        int opset = opset();
        ModelProto.Builder model = ModelProto.newBuilder()
                .setIrVersion(Opsets.formatVersion(opset))
                .setProducerName(OnnxWriter.PRODUCER)
                .addOpsetImport(OperatorSetIdProto.newBuilder().setVersion(opset))
                .setGraph(graph(opset));
        Map<String, String> metadata = new LinkedHashMap<>(graph.metadata());
        metadata.putAll(options.metadata());
        metadata.forEach((key, value) -> model.addMetadataProps(
                StringStringEntryProto.newBuilder().setKey(key).setValue(value)));
        return model.build();
    }

    private int opset() {
        int needed = Opsets.LEAST;
        for (Node node : graph.nodes()) {
            OperatorTable.Row<?> row = OperatorTable.of(node.operator());
            int least = row.leastOpset(node.operator());
            if (options.opset() != 0 && least > options.opset()) {
                throw new GraphException("node " + node + " cannot be written in opset " + options.opset()
                        + ": it needs opset " + least + " or later");
            }
            needed = Math.max(needed, row.nativeOpset(node.operator()));
        }
        return options.opset() != 0 ? options.opset() : Math.max(needed, OnnxWriter.Options.USUAL_OPSET);
    }

    private GraphProto graph(int opset) {
        takeNames();
        GraphProto.Builder proto = GraphProto.newBuilder().setName(graph.name().isEmpty() ? "graph" : graph.name());
        graph.inputs().forEach(input -> proto.addInput(value(input.name(), input.type())));
        graph.initializers().forEach((name, initializer) -> {
            switch (initializer.kind()) {
                case CONSTANT ->
                    proto.addNode(NodeWriting.constantNode(nodeNames.unique(name), name, initializer.tensor()));
                case PARAMETER, BUFFER -> proto.addInitializer(initializer(name, initializer));
            }
        });
        for (Node node : graph.nodes()) {
            NodeWriting writing = new NodeWriting(node, graph.operands(node), opset, tensorNames, nodeNames);
            OperatorTable.of(node.operator()).write(node.operator(), writing);
            proto.addAllNode(writing.finish());
        }
        graph.outputs()
                .forEach(output ->
                        proto.addOutput(value(output, graph.fact(output).type())));
        return proto.build();
    }

    private void takeNames() {
        graph.inputs().forEach(input -> tensorNames.take(input.name()));
        graph.initializers().keySet().forEach(tensorNames::take);
        for (Node node : graph.nodes()) {
            nodeNames.take(node.name());
            node.outputs().forEach(tensorNames::take);
        }
    }

    private TensorProto initializer(String name, Initializer initializer) {
        TensorProto.Builder proto = store.place(name, initializer.tensor());
        Kinds.note(proto, initializer, graph.uses(name));
        return proto.build();
    }

    private static ValueInfoProto value(String name, TensorType type) {
        TensorShapeProto.Builder shape = TensorShapeProto.newBuilder();
        type.shape().dimensions().forEach(length -> shape.addDim(length(length)));
        return ValueInfoProto.newBuilder()
                .setName(name)
                .setType(TypeProto.newBuilder()
                        .setTensorType(TypeProto.Tensor.newBuilder()
                                .setElemType(OnnxTypes.of(type.data()).getNumber())
                                .setShape(shape)))
                .build();
    }

    private static TensorShapeProto.Dimension length(Dimension length) {
        TensorShapeProto.Dimension.Builder proto = TensorShapeProto.Dimension.newBuilder();
        if (length.isKnown()) {
            proto.setDimValue(length.value());
        } else if (PLAIN.matcher(length.toString()).matches()) {
            proto.setDimParam(length.toString());
        }
        return proto.build();
    }
}
