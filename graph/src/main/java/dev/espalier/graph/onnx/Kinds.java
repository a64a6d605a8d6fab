package dev.espalier.graph.onnx;

import ai.onnx.proto.OnnxMl.NodeProto;
import ai.onnx.proto.OnnxMl.TensorProto;
import dev.espalier.graph.Graph;
import dev.espalier.graph.Initializer;
import dev.espalier.graph.Initializer.Kind;
import dev.espalier.graph.Node;
import dev.espalier.graph.onnx.Functions.Call;
import dev.espalier.graph.op.BatchNorm;
import dev.espalier.graph.op.Binary;
import dev.espalier.graph.op.Conv;
import dev.espalier.graph.op.ConvTranspose;
import dev.espalier.graph.op.Gemm;
import dev.espalier.graph.op.LayerNorm;
import dev.espalier.graph.op.MatMul;
import dev.espalier.graph.op.Recurrent;
import dev.espalier.graph.type.Tensor;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What an initializer is to training. ONNX does not say, so it is told from its use. */
final class Kinds {
    private static final Set<String> LAYERS = Set.of(
            "Conv", "ConvTranspose", "Gemm", "BatchNormalization", "LayerNormalization", "PRelu", "LSTM", "GRU", "RNN");

    /** What scales and shifts, channel by channel as a rule. */
    private static final Set<Binary.Function> SCALING = Set.of(
            Binary.Function.ADD,
            Binary.Function.SUBTRACT,
            Binary.Function.MULTIPLY,
            Binary.Function.DIVIDE,
            Binary.Function.PRELU);

    private static final String NOTE = "espalier: ";

    private Kinds() {}

    /** Tensors that a layer reads where its weights go; there even a single number is a weight. */
    static Set<String> weightInputs(List<Call> calls) {
        Set<String> weights = new HashSet<>();
        for (Call call : calls) {
            NodeProto node = call.node();
            if (LAYERS.contains(node.getOpType()) && node.getInputCount() > 1) {
                weights.addAll(node.getInputList().subList(1, node.getInputCount()));
            }
        }
        return weights;
    }

    /** Where every tensor is read. */
    static Map<String, List<Graph.Use>> readers(List<Node> nodes) {
        Map<String, List<Graph.Use>> readers = new HashMap<>();
        for (Node node : nodes) {
            for (int i = 0; i < node.inputs().size(); i++) {
                readers.computeIfAbsent(node.input(i), name -> new ArrayList<>())
                        .add(new Graph.Use(node, i));
            }
        }
        return readers;
    }

    /** Whether a constant that a file stores is read as a weight: some exporters write all weights as {@code Constant} nodes. */
    static boolean isWeight(Tensor tensor, List<Graph.Use> uses) {
        return tensor.type().isFloat()
                && uses.stream().anyMatch(use -> switch (use.node().operator()) {
                    case Conv _, ConvTranspose _, Gemm _, BatchNorm _, LayerNorm _ -> use.input() > 0;
                    case MatMul _ -> tensor.rank() > 1;
                    case Recurrent _ -> use.input() > 0 && !isFirstState(use);
                    case Binary binary -> tensor.size() > 1 && SCALING.contains(binary.function());
                    default -> false;
                });
    }

    private static boolean isFirstState(Graph.Use use) {
        return use.node().operator() instanceof Recurrent
                && (use.input() == Recurrent.STATES || use.input() == Recurrent.CELLS);
    }

    /** Running means and variances are buffers, and so are the states that sequences begin with; all else is a parameter. */
    static Kind ofWeight(List<Graph.Use> uses) {
        if (!uses.isEmpty() && uses.stream().allMatch(Kinds::isFirstState)) {
            return Kind.BUFFER;
        }
        boolean statistics =
                uses.stream().anyMatch(use -> use.node().operator() instanceof BatchNorm && use.input() >= 3);
        return statistics ? Kind.BUFFER : Kind.PARAMETER;
    }

    /** Writes the kind beside a tensor, where its use would not tell it. */
    static void note(TensorProto.Builder proto, Initializer initializer, List<Graph.Use> uses) {
        boolean told = initializer.tensor().rank() > 0 && initializer.kind() == ofWeight(uses);
        if (!told) {
            proto.setDocString(NOTE + initializer.kind());
        }
    }

    /** The kind that was written beside a tensor; null if none was. */
    static @Nullable Kind noted(TensorProto proto) {
        for (Kind kind : Kind.values()) {
            if (proto.getDocString().equals(NOTE + kind)) {
                return kind;
            }
        }
        return null;
    }
}
