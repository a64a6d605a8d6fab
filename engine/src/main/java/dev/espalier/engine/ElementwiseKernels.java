package dev.espalier.engine;

import static dev.espalier.engine.Tensors.clip;
import static dev.espalier.engine.Tensors.plus;
import static dev.espalier.engine.Tensors.scalar;
import static dev.espalier.engine.Tensors.times;

import ai.djl.pytorch.engine.PtNDArray;
import ai.djl.pytorch.jni.JniUtils;
import dev.espalier.graph.op.Elementwise;
import dev.espalier.graph.op.Elementwise.Cast;
import dev.espalier.graph.op.Elementwise.Celu;
import dev.espalier.graph.op.Elementwise.Clip;
import dev.espalier.graph.op.Elementwise.Dropout;
import dev.espalier.graph.op.Elementwise.Elu;
import dev.espalier.graph.op.Elementwise.Gelu;
import dev.espalier.graph.op.Elementwise.HardSigmoid;
import dev.espalier.graph.op.Elementwise.LeakyRelu;
import dev.espalier.graph.op.Elementwise.Selu;
import dev.espalier.graph.op.Elementwise.Unary;
import dev.espalier.graph.type.DataType;

/** Functions of one number. */
final class ElementwiseKernels {
    /** {@code √(2/π)}. */
    private static final double ROOT_OF_TWO_BY_PI = Math.sqrt(2 / Math.PI);

    private ElementwiseKernels() {}

    static Kernel of(Elementwise operator) {
        return switch (operator) {
            case Unary(Unary.Function function) -> Kernel.of(unary(function));
            case LeakyRelu(double slope) -> Kernel.of(x -> JniUtils.leakyRelu(x, slope));
            case Elu(double scale) -> Kernel.of(x -> JniUtils.elu(x, scale));
            case Celu(double scale) -> Kernel.of(x -> celu(x, scale));
            case Selu(double scale, double gamma) -> Kernel.of(x -> times(JniUtils.elu(x, scale), gamma));
            case HardSigmoid(double slope, double shift) -> Kernel.of(x -> clip(plus(times(x, slope), shift), 0, 1));
            case Gelu(boolean approximate) -> Kernel.of(approximate ? ElementwiseKernels::tanhGelu : JniUtils::gelu);
            case Clip(double least, double most) -> Kernel.of(x -> clip(x, least, most));
            case Cast(DataType to) -> cast(Tensors.djl(to));
            case Dropout(double ratio) -> dropout(ratio);
        };
    }

    private static Kernel.OfOne unary(Unary.Function function) {
        return switch (function) {
            case ABS -> JniUtils::abs;
            case CEIL -> JniUtils::ceil;
            case COS -> JniUtils::cos;
            case ERF -> JniUtils::erf;
            case EXP -> JniUtils::exp;
            case FLOOR -> JniUtils::floor;
            case HARD_SWISH -> x -> JniUtils.mul(x, clip(plus(times(x, 1 / 6.0), 0.5), 0, 1));
            case IDENTITY -> Tensors::alias;
            case IS_INF -> JniUtils::isInf;
            case IS_NAN -> JniUtils::isNaN;
            case LOG -> JniUtils::log;
            case MISH -> x -> JniUtils.mul(x, JniUtils.tanh(JniUtils.softPlus(x)));
            case NEGATIVE -> JniUtils::neg;
            case NOT -> JniUtils::logicalNot;
            case RECIPROCAL -> x -> JniUtils.div(scalar(x, 1), x);
            case RELU -> JniUtils::relu;
            case ROUND -> JniUtils::round;
            case SIGMOID -> JniUtils::sigmoid;
            case SIGN -> JniUtils::sign;
            case SIN -> JniUtils::sin;
            case SOFTPLUS -> JniUtils::softPlus;
            case SOFTSIGN -> JniUtils::softSign;
            case SQRT -> JniUtils::sqrt;
            case TANH -> JniUtils::tanh;
        };
    }

    private static PtNDArray celu(PtNDArray x, double scale) {
        if (scale > 0) {
            return times(JniUtils.elu(times(x, 1 / scale), 1), scale);
        }
        PtNDArray bent = times(plus(JniUtils.exp(times(x, 1 / scale)), -1), scale);
        return JniUtils.add(JniUtils.relu(x), JniUtils.min(bent, scalar(x, 0)));
    }

    /** {@code x/2 · (1 + tanh(√(2/π) · (x + 0.044715 x³)))}. */
    private static PtNDArray tanhGelu(PtNDArray x) {
        PtNDArray cube = JniUtils.mul(JniUtils.square(x), x);
        PtNDArray inner = times(JniUtils.add(x, times(cube, 0.044715)), ROOT_OF_TWO_BY_PI);
        return JniUtils.mul(times(x, 0.5), plus(JniUtils.tanh(inner), 1));
    }

    private static Kernel cast(ai.djl.ndarray.types.DataType type) {
        return Kernel.of(x -> Tensors.cast(x, type));
    }

    private static Kernel dropout(double ratio) {
        return Kernel.ofFeed(feed ->
                feed.drops() && ratio > 0 ? JniUtils.dropout(feed.get(0), ratio, true) : Tensors.alias(feed.get(0)));
    }
}
