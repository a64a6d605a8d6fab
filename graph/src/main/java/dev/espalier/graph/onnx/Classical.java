package dev.espalier.graph.onnx;

import ai.onnx.proto.OnnxMl.ModelProto;
import ai.onnx.proto.OnnxMl.NodeProto;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/** Models of other kinds than neural networks, which ONNX files can hold too. */
final class Classical {
    private static final String DOMAIN = "ai.onnx.ml";

    /** What its operators are, in words. */
    private static final Map<String, String> ESTIMATORS = Map.of(
            "TreeEnsemble", "an ensemble of decision trees",
            "TreeEnsembleClassifier", "an ensemble of decision trees",
            "TreeEnsembleRegressor", "an ensemble of decision trees",
            "SVMClassifier", "a support vector machine",
            "SVMRegressor", "a support vector machine",
            "LinearClassifier", "a linear model",
            "LinearRegressor", "a linear model");

    private static final Set<String> LAYERS =
            Set.of("Conv", "ConvTranspose", "Gemm", "MatMul", "LSTM", "GRU", "RNN", "MatMulInteger", "ConvInteger");

    private Classical() {}

    /** Refuses a model that has no layers, but is something else. */
    static void refuse(String what, ModelProto model) throws OnnxException {
        Set<String> kinds = new TreeSet<>();
        boolean layers = false;
        for (NodeProto node : model.getGraph().getNodeList()) {
            String kind = node.getDomain().equals(DOMAIN) ? ESTIMATORS.get(node.getOpType()) : null;
            if (kind != null) {
                kinds.add(kind + " (" + node.getOpType() + ")");
            }
            layers |= LAYERS.contains(node.getOpType());
        }
        if (!kinds.isEmpty() && !layers) {
            throw new OnnxException(what + " is " + String.join(" and ", kinds)
                    + ", not a neural network: it has no layers that could be trained or pruned here");
        }
    }
}
