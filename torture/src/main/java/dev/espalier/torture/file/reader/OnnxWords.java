package dev.espalier.torture.file.reader;

import java.util.List;

/** What a text in an ONNX file may be replaced by: operators, attributes, places of external data, some of them outside. */
final class OnnxWords {
    static final List<String> ALL =
            List.of(("Add Attention AveragePool BatchNormalization BiasGelu Cast CastLike Ceil Celu Clip Concat"
                            + " Constant ConstantOfShape Conv ConvInteger ConvTranspose CumSum DFT DepthToSpace DequantizeLinear Div Dropout"
                            + " DynamicQuantizeLSTM DynamicQuantizeLinear DynamicQuantizeMatMul Einsum Elu EmbedLayerNormalization Equal Erf"
                            + " Expand FastGelu Flatten Floor FusedConv FusedGemm FusedMatMul GRU Gather GatherElements GatherND Gelu Gemm"
                            + " GlobalAveragePool Greater GridSample GroupNormalization HardSigmoid Hardmax Identity If InstanceNormalization"
                            + " LSTM LayerNormalization LeakyRelu Less LessOrEqual LogSoftmax Loop MatMul MatMulInteger MatMulIntegerToFloat"
                            + " MatMulNBits Max MaxPool Min Mod Mul MultiHeadAttention Neg OneHot PRelu Pad QAttention"
                            + " QEmbedLayerNormalization QGemm QLinearAdd QLinearAveragePool QLinearConcat QLinearConv QLinearMatMul"
                            + " QLinearMul QLinearSoftmax QuantizeLinear QuickGelu RMSNormalization RNN Range ReduceL1 ReduceL2 ReduceLogSum"
                            + " ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum ReduceSumSquare Relu Reshape Resize"
                            + " RotaryEmbedding Round Scan Scatter ScatterElements ScatterND Selu SequenceAt Shape Sigmoid"
                            + " SimplifiedLayerNormalization SkipLayerNormalization Slice Softmax SpaceToDepth Split SplitToSequence Sqrt"
                            + " Squeeze Sub Tanh Tile TopK Transpose TreeEnsemble Trilu Unsqueeze Upsample VALID Where"
                            + " axis axes alpha beta epsilon group kernel_shape pads strides dilations auto_pad SAME_UPPER SAME_LOWER to perm"
                            + " keepdims mode direction hidden_size equation transA transB value allowzero num_outputs then_branch else_branch"
                            + " body com.microsoft ai.onnx.ml location offset length 0 1 -1 9223372036854775807 1e9 4096 18446744073709551615"
                            + " ../secret.bin ./../secret.bin x/../../secret.bin link.bin ./link.bin /etc/hostname . .. / ~ \u0000 \ud83d\ude00")
                    .split(" ", -1));

    private OnnxWords() {}
}
