package dev.espalier.engine;

import ai.djl.pytorch.engine.PtNDArray;
import ai.djl.pytorch.jni.JniUtils;
import dev.espalier.graph.op.Binary;
import dev.espalier.graph.op.Variadic;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;

/** Functions of several numbers. */
final class ArithmeticKernels {
    private ArithmeticKernels() {}

    static Kernel binary(Binary.Function function, Site site) {
        return switch (function) {
            case ADD -> Kernel.ofTwo(JniUtils::add);
            case SUBTRACT -> Kernel.ofTwo(JniUtils::sub);
            case MULTIPLY -> Kernel.ofTwo(JniUtils::mul);
            case DIVIDE -> Kernel.ofTwo(site.type(0).isFloat() ? JniUtils::div : ArithmeticKernels::divideTowardsZero);
            case POWER -> power(site);
            case MODULO -> Kernel.ofTwo(site.type(0).isFloat() ? ArithmeticKernels::rest : JniUtils::remainder);
            case PRELU -> Kernel.ofTwo(ArithmeticKernels::prelu);
            case EQUAL -> Kernel.ofTwo(JniUtils::eq);
            case LESS -> Kernel.ofTwo(JniUtils::lt);
            case LESS_OR_EQUAL -> Kernel.ofTwo(JniUtils::lte);
            case GREATER -> Kernel.ofTwo(JniUtils::gt);
            case GREATER_OR_EQUAL -> Kernel.ofTwo(JniUtils::gte);
            case AND -> Kernel.ofTwo(JniUtils::logicalAnd);
            case OR -> Kernel.ofTwo(JniUtils::logicalOr);
            case XOR -> Kernel.ofTwo(JniUtils::logicalXor);
        };
    }

    static Kernel variadic(Variadic.Function function) {
        return switch (function) {
            case SUM -> Kernel.ofFeed(feed -> fold(feed, JniUtils::add));
            case MEAN -> Kernel.ofFeed(feed -> Tensors.times(fold(feed, JniUtils::add), 1.0 / feed.count()));
            case MINIMUM -> Kernel.ofFeed(feed -> fold(feed, JniUtils::min));
            case MAXIMUM -> Kernel.ofFeed(feed -> fold(feed, JniUtils::max));
        };
    }

    private static PtNDArray fold(Kernel.Feed feed, Kernel.OfTwo function) {
        PtNDArray result = Tensors.alias(feed.get(0));
        for (int i = 1; i < feed.count(); i++) {
            result = function.run(result, feed.get(i));
        }
        return result;
    }

    /** In double precision, as libtorch divides whole numbers in single precision only: exact up to 2⁵³. */
    static PtNDArray divideTowardsZero(PtNDArray left, PtNDArray right) {
        ai.djl.ndarray.types.DataType exact = ai.djl.ndarray.types.DataType.FLOAT64;
        return JniUtils.trunc(JniUtils.div(left.toType(exact, false), right.toType(exact, false)))
                .toType(left.getDataType(), false);
    }

    /** What is left of fractions has the sign of the left side, as ONNX will have it; of whole numbers, of the right. */
    private static PtNDArray rest(PtNDArray left, PtNDArray right) {
        return JniUtils.sub(left, JniUtils.mul(JniUtils.trunc(JniUtils.div(left, right)), right));
    }

    private static PtNDArray prelu(PtNDArray x, PtNDArray slope) {
        return JniUtils.sub(JniUtils.relu(x), JniUtils.mul(JniUtils.relu(JniUtils.neg(x)), slope));
    }

    private static Kernel power(Site site) {
        Tensor exponent = site.constant(1);
        if (exponent != null && exponent.size() == 1 && exponent.rank() <= site.inputShape(0).length) {
            if (exponent.getDouble(0) == 2) {
                return Kernel.of(JniUtils::square);
            }
            if (exponent.getDouble(0) == 0.5 && site.type(0).isFloat()) {
                return Kernel.of(JniUtils::sqrt);
            }
        }
        DataType base = site.type(0);
        DataType raised = site.type(1);
        if (base == raised || !raised.isFloat()) {
            return Kernel.ofTwo(JniUtils::pow);
        }
        // The result is of the base's type: a whole number is rounded towards zero when it is narrowed.
        ai.djl.ndarray.types.DataType type = base.isFloat() ? Tensors.djl(base) : Tensors.djl(raised);
        return Kernel.ofTwo((left, right) -> JniUtils.pow(Tensors.cast(left, type), Tensors.cast(right, type)));
    }
}
