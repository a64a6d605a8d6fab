package dev.espalier.graph.op;

import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Dimension;
import dev.espalier.graph.type.Shape;
import dev.espalier.graph.type.TensorType;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A function of two numbers, applied to every pair of elements of two tensors that are broadcast to each other.
 *
 * @param function which one
 */
public record Binary(Function function) implements Operator {

    /** The functions, under ONNX's names. */
    public enum Function {
        /** {@code a + b}. */
        ADD("Add"),
        /** {@code a − b}. */
        SUBTRACT("Sub"),
        /** {@code a · b}. */
        MULTIPLY("Mul"),
        /** {@code a / b}; whole numbers are cut off towards zero. */
        DIVIDE("Div"),
        /** {@code aᵇ}. */
        POWER("Pow"),
        /** The rest of a division, with the sign of the divisor. */
        MODULO("Mod"),
        /** {@code a} where it is positive, else {@code a · b}. */
        PRELU("PRelu"),
        /** {@code a = b}. */
        EQUAL("Equal"),
        /** {@code a < b}. */
        LESS("Less"),
        /** {@code a ≤ b}. */
        LESS_OR_EQUAL("LessOrEqual"),
        /** {@code a > b}. */
        GREATER("Greater"),
        /** {@code a ≥ b}. */
        GREATER_OR_EQUAL("GreaterOrEqual"),
        /** Both. */
        AND("And"),
        /** At least one. */
        OR("Or"),
        /** Exactly one. */
        XOR("Xor");

        private final String label;

        Function(String label) {
            this.label = label;
        }

        /**
         * Whether the result is true or false.
         *
         * @return true for comparisons and logic
         */
        public boolean isTruth() {
            return compareTo(EQUAL) >= 0;
        }
    }

    @Override
    public String label() {
        return function.label;
    }

    @Override
    public int leastInputs() {
        return 2;
    }

    @Override
    public List<Fact> infer(Operands inputs) {
        switch (function) {
            case ADD, SUBTRACT, MULTIPLY, DIVIDE, MODULO, LESS, LESS_OR_EQUAL, GREATER, GREATER_OR_EQUAL ->
                inputs.requireType(0, Types.NUMBERS);
            case POWER -> {
                inputs.requireType(0, Types.WIDE);
                inputs.requireType(1, Types.NUMBERS);
            }
            case PRELU -> inputs.requireType(0, Types.WIDE);
            case AND, OR, XOR -> inputs.requireType(0, Types.TRUTHS);
            case EQUAL -> {}
        }
        if (function != Function.POWER) {
            Operands.require(
                    inputs.data(0) == inputs.data(1),
                    "inputs of types " + inputs.data(0) + " and " + inputs.data(1) + " cannot be combined");
        }
        Shape shape = inputs.shape(0).broadcast(inputs.shape(1));
        DataType data = function.isTruth() ? DataType.BOOL : inputs.data(0);
        return List.of(new Fact(new TensorType(data, shape), elements(inputs)));
    }

    private @Nullable List<Dimension> elements(Operands inputs) {
        List<Dimension> left = inputs.elements(0);
        List<Dimension> right = inputs.elements(1);
        if (left == null || right == null || left.isEmpty() || right.isEmpty()) {
            return null;
        }
        int count = Math.max(left.size(), right.size());
        boolean listsOrScalars = inputs.shape(0).rank() <= 1 && inputs.shape(1).rank() <= 1;
        boolean fit = (left.size() == count || left.size() == 1) && (right.size() == count || right.size() == 1);
        if (!listsOrScalars || !fit) {
            return null;
        }
        List<Dimension> results = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            try {
                Dimension result = apply(left.get(left.size() == 1 ? 0 : i), right.get(right.size() == 1 ? 0 : i));
                if (result == null) {
                    return null;
                }
                results.add(result);
            } catch (ArithmeticException wrapsAround) {
                // Such numbers are no lengths: what they wrap around to is for the evaluator.
                return null;
            }
        }
        return results;
    }

    private @Nullable Dimension apply(Dimension left, Dimension right) {
        return switch (function) {
            case ADD -> left.plus(right);
            case SUBTRACT -> left.minus(right);
            case MULTIPLY -> left.times(right);
            case DIVIDE -> divide(left, right);
            case MODULO ->
                left.isKnown() && right.isKnown() && right.value() != 0
                        ? Dimension.of(Math.floorMod(left.value(), right.value()))
                        : null;
            case EQUAL -> equal(left, right);
            case LESS -> less(left, right);
            case LESS_OR_EQUAL -> not(less(right, left));
            case GREATER -> less(right, left);
            case GREATER_OR_EQUAL -> not(less(left, right));
            case AND -> truth(left, right, left.times(right));
            case OR -> truth(left, right, left.plus(right));
            case XOR -> truth(left, right, left.minus(right));
            case POWER, PRELU -> null;
        };
    }

    private static @Nullable Dimension divide(Dimension left, Dimension right) {
        if (right.is(0)) {
            return null;
        }
        if (left.isKnown() && right.isKnown()) {
            return Dimension.of(left.value() / right.value());
        }
        // Cutting off is rounding down only where nothing is negative, or where nothing is left over.
        Dimension quotient = left.dividedBy(right);
        boolean alike = left.isAtLeast(0) && right.isAtLeast(0);
        return alike || quotient.times(right).equals(left) ? quotient : null;
    }

    private static @Nullable Dimension equal(Dimension left, Dimension right) {
        Dimension difference = left.minus(right);
        if (difference.isAtLeast(1) || difference.isAtMost(-1)) {
            return Dimension.ZERO;
        }
        return difference.is(0) ? Dimension.ONE : null;
    }

    /** What holds for every length; null if it depends on the lengths. */
    private static @Nullable Dimension less(Dimension left, Dimension right) {
        Dimension difference = left.minus(right);
        if (difference.isAtLeast(0)) {
            return Dimension.ZERO;
        }
        return difference.isAtMost(-1) ? Dimension.ONE : null;
    }

    private static @Nullable Dimension not(@Nullable Dimension truth) {
        return truth == null ? null : Dimension.ONE.minus(truth);
    }

    private static @Nullable Dimension truth(Dimension left, Dimension right, Dimension combined) {
        return left.isKnown() && right.isKnown() ? Dimension.of(combined.is(0) ? 0 : 1) : null;
    }

    @Override
    public Dimension flops(Operands inputs, List<Fact> outputs) {
        return outputs.getFirst().shape().size();
    }
}
