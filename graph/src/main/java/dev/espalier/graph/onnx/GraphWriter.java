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
import dev.espalier.graph.op.Foreign;
import dev.espalier.graph.type.Dimension;
import dev.espalier.graph.type.TensorType;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
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
        domains()
                .forEach((domain, version) -> model.addOpsetImport(
                        OperatorSetIdProto.newBuilder().setDomain(domain).setVersion(version)));
        Map<String, String> metadata = new LinkedHashMap<>(graph.metadata());
        metadata.putAll(options.metadata());
        metadata.forEach((key, value) -> model.addMetadataProps(
                StringStringEntryProto.newBuilder().setKey(key).setValue(value)));
        return model.build();
    }

    /** What was asked for; else what all operators have, and no more where some are kept as an older version has them. */
    private int opset() {
        int least = Opsets.LEAST;
        int best = Opsets.LEAST;
        boolean kept = false;
        for (Node node : graph.nodes()) {
            if (node.operator() instanceof Foreign foreign) {
                int own = Boxes.leastOpset(foreign);
                least = Math.max(least, own);
                best = Math.max(best, own);
                kept |= own > 0;
            } else {
                OperatorTable.Row<?> row = OperatorTable.of(node.operator());
                least = Math.max(least, row.leastOpset(node.operator()));
                best = Math.max(best, row.nativeOpset(node.operator()));
                if (options.opset() != 0 && least > options.opset()) {
                    throw unwritable(node, options.opset(), "it needs opset " + least + " or later");
                }
            }
        }
        int usual = kept ? objection(best).isEmpty() ? best : least : Math.max(best, OnnxWriter.Options.USUAL_OPSET);
        int opset = options.opset() != 0 ? options.opset() : usual;
        objection(opset).ifPresent(problem -> {
            throw problem;
        });
        return opset;
    }

    private Optional<GraphException> objection(int opset) {
        for (Node node : graph.nodes()) {
            String objection = node.operator() instanceof Foreign foreign ? Boxes.objection(foreign, opset) : null;
            if (objection != null) {
                return Optional.of(unwritable(node, opset, objection));
            }
        }
        return Optional.empty();
    }

    private static GraphException unwritable(Node node, int opset, String reason) {
        return new GraphException("node " + node + " cannot be written in opset " + opset + ": " + reason);
    }

    /** Versions of the operators of other domains. */
    private SortedMap<String, Integer> domains() {
        SortedMap<String, Integer> domains = new TreeMap<>();
        for (Node node : graph.nodes()) {
            if (node.operator() instanceof Foreign foreign) {
                foreign.opsets().forEach((domain, version) -> domains.merge(domain, version, Math::max));
            }
        }
        domains.remove("");
        return domains;
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
            if (node.operator() instanceof Foreign foreign) {
                proto.addNode(Boxes.write(node, foreign, tensorNames));
                // Nobody who does not know the operator could tell.
                node.outputs().stream()
                        .filter(output -> !graph.isOutput(output))
                        .forEach(output -> proto.addValueInfo(
                                value(output, graph.fact(output).type())));
                continue;
            }
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
