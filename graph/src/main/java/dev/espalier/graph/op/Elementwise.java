package dev.espalier.graph.op;

import dev.espalier.core.check.Check;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Dimension;
import dev.espalier.graph.type.Tensor;
import java.util.List;

/** A function of one number, applied to every element. */
public sealed interface Elementwise extends Operator {

    @Override
    default List<Fact> infer(Operands inputs) {
        inputs.requireType(0, Types.FLOATS);
        return List.of(Fact.of(inputs.get(0).type()));
    }

    @Override
    default Dimension flops(Operands inputs, List<Fact> outputs) {
        return outputs.getFirst().shape().size();
    }

    /**
     * A function without parameters.
     *
     * @param function which one
     */
    record Unary(Function function) implements Elementwise {
        /** The functions, under ONNX's names. */
        public enum Function {
            /** {@code |x|}. */
            ABS("Abs"),
            /** Rounds up. */
            CEIL("Ceil"),
            /** Cosine. */
            COS("Cos"),
            /** The error function. */
            ERF("Erf"),
            /** {@code eˣ}. */
            EXP("Exp"),
            /** Rounds down. */
            FLOOR("Floor"),
            /** {@code x · max(0, min(1, x/6 + 1/2))}. */
            HARD_SWISH("HardSwish"),
            /** {@code x}. */
            IDENTITY("Identity"),
            /** Whether x is infinite. */
            IS_INF("IsInf"),
            /** Whether x is not a number. */
            IS_NAN("IsNaN"),
            /** Natural logarithm. */
            LOG("Log"),
            /** {@code x · tanh(softplus(x))}. */
            MISH("Mish"),
            /** {@code −x}. */
            NEGATIVE("Neg"),
            /** Logical negation. */
            NOT("Not"),
            /** {@code 1/x}. */
            RECIPROCAL("Reciprocal"),
            /** {@code max(0, x)}. */
            RELU("Relu"),
            /** Rounds to nearest, ties to even. */
            ROUND("Round"),
            /** {@code 1/(1 + e⁻ˣ)}. */
            SIGMOID("Sigmoid"),
            /** −1, 0 or 1. */
            SIGN("Sign"),
            /** Sine. */
            SIN("Sin"),
            /** {@code ln(1 + eˣ)}. */
            SOFTPLUS("Softplus"),
            /** {@code x/(1 + |x|)}. */
            SOFTSIGN("Softsign"),
            /** Square root. */
            SQRT("Sqrt"),
            /** Hyperbolic tangent. */
            TANH("Tanh");

            private final String label;

            Function(String label) {
                this.label = label;
            }
        }

        @Override
        public String label() {
            return function.label;
        }

        @Override
        public List<Fact> infer(Operands inputs) {
            Fact input = inputs.get(0);
            switch (function) {
                case IDENTITY -> {}
                case NOT -> inputs.requireType(0, Types.TRUTHS);
                case ABS, SIGN -> inputs.requireType(0, Types.NUMBERS);
                case NEGATIVE, RELU -> inputs.requireType(0, Types.SIGNED);
                case CEIL,
                        COS,
                        ERF,
                        EXP,
                        FLOOR,
                        HARD_SWISH,
                        IS_INF,
                        IS_NAN,
                        LOG,
                        MISH,
                        RECIPROCAL,
                        ROUND,
                        SIGMOID,
                        SIN -> inputs.requireType(0, Types.FLOATS);
                case SOFTPLUS, SOFTSIGN, SQRT, TANH -> inputs.requireType(0, Types.FLOATS);
            }
            return List.of(
                    switch (function) {
                        case IDENTITY -> input;
                        case IS_NAN, IS_INF -> Fact.of(DataType.BOOL, input.shape());
                        default -> Fact.of(input.type());
                    });
        }
    }

    /**
     * {@code x} where it is positive, else {@code slope · x}.
     *
     * @param slope the slope below zero
     */
    record LeakyRelu(double slope) implements Elementwise {}

    /**
     * {@code x} where it is positive, else {@code scale · (eˣ − 1)}.
     *
     * @param scale how far below zero it goes
     */
    record Elu(double scale) implements Elementwise {}

    /**
     * {@code max(0, x) + min(0, scale · (e^(x/scale) − 1))}.
     *
     * @param scale not zero
     */
    record Celu(double scale) implements Elementwise {}

    /**
     * {@code gamma · x} where it is positive, else {@code gamma · scale · (eˣ − 1)}.
     *
     * @param scale how far below zero it goes
     * @param gamma the slope
     */
    record Selu(double scale, double gamma) implements Elementwise {}

    /**
     * {@code max(0, min(1, slope · x + shift))}.
     *
     * @param slope the slope in the middle
     * @param shift the value at zero
     */
    record HardSigmoid(double slope, double shift) implements Elementwise {}

    /**
     * {@code x · Φ(x)}.
     *
     * @param approximate true for the formula with a hyperbolic tangent, false for the exact one
     */
    record Gelu(boolean approximate) implements Elementwise {
        /** {@code x/2 · (1 + erf(x/√2))}: five operations. */
        @Override
        public Dimension flops(Operands inputs, List<Fact> outputs) {
            return outputs.getFirst().shape().size().times(5);
        }
    }

    /**
     * {@code max(least, min(most, x))}.
     *
     * @param least the lower bound; minus infinity for none
     * @param most the upper bound; infinity for none
     */
    record Clip(double least, double most) implements Elementwise {
        @Override
        public List<Fact> infer(Operands inputs) {
            inputs.requireType(0, Types.NUMBERS);
            return List.of(Fact.of(inputs.get(0).type()));
        }
    }

    /**
     * The same numbers, stored otherwise.
     *
     * @param to how
     */
    record Cast(DataType to) implements Elementwise {
        @Override
        public List<Fact> infer(Operands inputs) {
            Fact input = inputs.get(0);
            return List.of(new Fact(input.type().with(to), fits(input) ? input.elements() : null));
        }

        /** Whole numbers stay what they are, unless the new type is too narrow for one; lengths fit into four bytes. */
        private boolean fits(Fact input) {
            List<Dimension> elements = input.elements();
            return elements != null
                    && !input.data().isFloat()
                    && to.isInteger()
                    && elements.stream()
                            .allMatch(element -> element.isKnown()
                                    ? Tensor.computeLongs(to, new long[0], i -> element.value())
                                                    .getLong(0)
                                            == element.value()
                                    : to.bytes() >= Integer.BYTES);
        }

        @Override
        public Dimension flops(Operands inputs, List<Fact> outputs) {
            return Dimension.ZERO;
        }
    }

    /**
     * In training a share of the elements is set to zero and the rest scaled up; otherwise it does nothing.
     *
     * @param ratio the share, at least 0 and below 1
     */
    record Dropout(double ratio) implements Elementwise {
        /** Checks the share. */
        public Dropout {
            Check.fraction("ratio", ratio);
        }

        @Override
        public Dimension flops(Operands inputs, List<Fact> outputs) {
            return Dimension.ZERO;
        }
    }
}
