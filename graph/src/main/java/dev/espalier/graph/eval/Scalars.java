package dev.espalier.graph.eval;

import dev.espalier.graph.op.Binary;
import dev.espalier.graph.op.Elementwise;
import dev.espalier.graph.op.Elementwise.Unary;
import java.util.function.DoubleUnaryOperator;
import java.util.function.LongUnaryOperator;
import org.jspecify.annotations.Nullable;

/** The functions of one and of two numbers. */
final class Scalars {
    private Scalars() {}

    /** A function of one number. */
    static DoubleUnaryOperator of(Elementwise operator) {
        return switch (operator) {
            case Unary(var function) -> of(function);
            case Elementwise.LeakyRelu(double slope) -> x -> x > 0 ? x : slope * x;
            case Elementwise.Elu(double scale) -> x -> x > 0 ? x : scale * Math.expm1(x);
            case Elementwise.Celu(double scale) -> x -> Math.max(0, x) + Math.min(0, scale * Math.expm1(x / scale));
            case Elementwise.Selu(double scale, double gamma) -> x -> gamma * (x > 0 ? x : scale * Math.expm1(x));
            case Elementwise.HardSigmoid(double slope, double shift) ->
                x -> Math.max(0, Math.min(1, slope * x + shift));
            case Elementwise.Gelu(boolean approximate) -> approximate ? Scalars::tanhGelu : Scalars::gelu;
            case Elementwise.Clip(double least, double most) -> x -> Math.min(most, Math.max(least, x));
            case Elementwise.Cast _, Elementwise.Dropout _ -> x -> x;
        };
    }

    private static DoubleUnaryOperator of(Unary.Function function) {
        return switch (function) {
            case ABS -> Math::abs;
            case CEIL -> Math::ceil;
            case COS -> Math::cos;
            case ERF -> ErrorFunction::erf;
            case EXP -> Math::exp;
            case FLOOR -> Math::floor;
            case HARD_SWISH -> x -> x * Math.max(0, Math.min(1, x / 6 + 0.5));
            case IDENTITY -> x -> x;
            case IS_INF -> x -> Double.isInfinite(x) ? 1 : 0;
            case IS_NAN -> x -> Double.isNaN(x) ? 1 : 0;
            case LOG -> Math::log;
            case MISH -> x -> x * Math.tanh(softplus(x));
            case NEGATIVE -> x -> -x;
            case NOT -> x -> x == 0 ? 1 : 0;
            case RECIPROCAL -> x -> 1 / x;
            case RELU -> x -> Math.max(0, x);
            case ROUND -> Math::rint;
            case SIGMOID -> x -> 1 / (1 + Math.exp(-x));
            case SIGN -> Math::signum;
            case SIN -> Math::sin;
            case SOFTPLUS -> Scalars::softplus;
            case SOFTSIGN -> x -> x / (1 + Math.abs(x));
            case SQRT -> Math::sqrt;
            case TANH -> Math::tanh;
        };
    }

    /** {@code ln(1 + eˣ)}, written so that the exponential cannot overflow. */
    private static double softplus(double x) {
        return Math.max(0, x) + Math.log1p(Math.exp(-Math.abs(x)));
    }

    /** {@code x/2 · (1 + erf(x/√2))}, which is {@code x/2 · erfc(−x/√2)}. */
    private static double gelu(double x) {
        return x / 2 * ErrorFunction.complement(-x / Math.sqrt(2));
    }

    private static double tanhGelu(double x) {
        return x / 2 * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x * x * x)));
    }

    /** The function on whole numbers that a double might not hold; null if it has none of its own. */
    static @Nullable LongUnaryOperator wholeOf(Elementwise operator) {
        return switch (operator) {
            case Unary(var function) ->
                switch (function) {
                    case ABS -> Math::abs;
                    case NEGATIVE -> x -> -x;
                    case RELU -> x -> Math.max(0, x);
                    case SIGN -> x -> Long.signum(x);
                    case CEIL, FLOOR, IDENTITY, ROUND -> x -> x;
                    case COS, ERF, EXP, HARD_SWISH, IS_INF, IS_NAN, LOG, MISH, NOT, RECIPROCAL -> null;
                    case SIGMOID, SIN, SOFTPLUS, SOFTSIGN, SQRT, TANH -> null;
                };
            // The bounds are rounded inwards, so that a fraction does not let through what lies beyond it.
            case Elementwise.Clip(double least, double most) -> {
                long low = (long) Math.ceil(least);
                long high = (long) Math.floor(most);
                yield x -> Math.min(high, Math.max(low, x));
            }
            case Elementwise.Cast _, Elementwise.Dropout _ -> x -> x;
            case Elementwise.LeakyRelu _, Elementwise.Elu _, Elementwise.Celu _, Elementwise.Selu _ -> null;
            case Elementwise.HardSigmoid _, Elementwise.Gelu _ -> null;
        };
    }

    /** A function of two numbers; truths are 0 and 1. */
    static double apply(Binary.Function function, double a, double b) {
        return switch (function) {
            case ADD -> a + b;
            case SUBTRACT -> a - b;
            case MULTIPLY -> a * b;
            case DIVIDE -> a / b;
            case POWER -> Math.pow(a, b);
            case MODULO -> a % b;
            case PRELU -> a > 0 ? a : a * b;
            case EQUAL -> a == b ? 1 : 0;
            case LESS -> a < b ? 1 : 0;
            case LESS_OR_EQUAL -> a <= b ? 1 : 0;
            case GREATER -> a > b ? 1 : 0;
            case GREATER_OR_EQUAL -> a >= b ? 1 : 0;
            case AND -> a != 0 && b != 0 ? 1 : 0;
            case OR -> a != 0 || b != 0 ? 1 : 0;
            case XOR -> (a != 0) != (b != 0) ? 1 : 0;
        };
    }

    /** A function of two whole numbers; what does not fit wraps around. */
    static long apply(Binary.Function function, long a, long b) {
        return switch (function) {
            case ADD -> a + b;
            case SUBTRACT -> a - b;
            case MULTIPLY -> a * b;
            case DIVIDE -> a / notZero(b);
            case POWER -> power(a, b);
            case MODULO -> Math.floorMod(a, notZero(b));
            case PRELU -> a > 0 ? a : a * b;
            case EQUAL -> a == b ? 1 : 0;
            case LESS -> a < b ? 1 : 0;
            case LESS_OR_EQUAL -> a <= b ? 1 : 0;
            case GREATER -> a > b ? 1 : 0;
            case GREATER_OR_EQUAL -> a >= b ? 1 : 0;
            case AND -> a != 0 && b != 0 ? 1 : 0;
            case OR -> a != 0 || b != 0 ? 1 : 0;
            case XOR -> (a != 0) != (b != 0) ? 1 : 0;
        };
    }

    private static long notZero(long divisor) {
        if (divisor == 0) {
            throw new IllegalArgumentException("a whole number is divided by 0");
        }
        return divisor;
    }

    /** By squaring; a negative exponent leaves only what a fraction is cut off to. */
    private static long power(long base, long exponent) {
        if (exponent < 0) {
            return (long) Math.pow((double) base, (double) exponent);
        }
        long result = 1;
        long square = base;
        for (long left = exponent; left > 0; left >>= 1) {
            result *= (left & 1) == 1 ? square : 1;
            square *= square;
        }
        return result;
    }
}
