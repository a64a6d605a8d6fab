package dev.espalier.graph.onnx;

import ai.onnx.proto.OnnxMl.NodeProto;
import dev.espalier.graph.onnx.Functions.Call;
import dev.espalier.graph.type.Tensor;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The scales of weights: those of a product of codes stand behind it, where it is multiplied by them. */
final class ProductScales {
    /** On the way from a product of codes to where it is multiplied by its scales. */
    private static final Set<String> ON_THE_WAY = Set.of("Add", "Cast", "Identity", "Mul", "Reshape");

    /** How many tensors behind a product are looked at for its scales; they are two or three steps away. */
    private static final int MOST_STEPS = 16;

    private final List<Call> calls;
    private final Map<String, List<NodeProto>> readers;
    private final Quantized.Model model;
    private final Map<String, NodeProto> makers = new HashMap<>();

    ProductScales(List<Call> calls, Map<String, List<NodeProto>> readers, Quantized.Model model) {
        this.calls = calls;
        this.readers = readers;
        this.model = model;
        for (Call call : calls) {
            call.node().getOutputList().forEach(output -> makers.put(output, call.node()));
        }
    }

    /** The names of scales by those of products, as far as there are any. */
    Map<String, String> find() {
        Map<String, String> found = new HashMap<>();
        for (Call call : calls) {
            String name = call.node().getOpType();
            boolean product = name.equals("MatMulInteger") || name.equals("ConvInteger");
            if (product && call.node().getOutputCount() > 0) {
                // Numbers along the last axis are those of channels for a product of matrices only.
                boolean channels = name.equals("MatMulInteger");
                String scale = behind(call.node().getOutput(0), channels, new HashSet<>());
                if (!scale.isEmpty()) {
                    found.put(call.node().getOutput(0), scale);
                }
            }
        }
        return found;
    }

    private String behind(String product, boolean channels, Set<String> seen) {
        for (NodeProto reader : readers.getOrDefault(product, List.of())) {
            String scale = reader.getOpType().equals("Mul") && reader.getInputCount() == 2
                    ? scale(reader.getInput(reader.getInput(0).equals(product) ? 1 : 0), channels)
                    : "";
            boolean further = ON_THE_WAY.contains(reader.getOpType()) && reader.getOutputCount() > 0;
            if (scale.isEmpty() && further && seen.size() < MOST_STEPS && seen.add(reader.getOutput(0))) {
                scale = behind(reader.getOutput(0), channels, seen);
            }
            if (!scale.isEmpty()) {
                return scale;
            }
        }
        return "";
    }

    /** The scale of a weight that a factor is, or is a multiple of. */
    private String scale(String factor, boolean channels) {
        NodeProto maker = makers.get(factor);
        List<String> candidates =
                maker != null && maker.getOpType().equals("Mul") ? maker.getInputList() : List.of(factor);
        return candidates.stream()
                .filter(candidate -> isScale(model.contents(candidate), channels))
                .findFirst()
                .orElse("");
    }

    private static boolean isScale(@Nullable Tensor tensor, boolean channels) {
        return tensor != null && tensor.type().isFloat() && (tensor.size() == 1 || (channels && tensor.rank() == 1));
    }
}
