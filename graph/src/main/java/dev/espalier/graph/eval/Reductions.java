package dev.espalier.graph.eval;

import dev.espalier.graph.op.ArgReduce;
import dev.espalier.graph.op.CumSum;
import dev.espalier.graph.op.GatherElements;
import dev.espalier.graph.op.LayerNorm;
import dev.espalier.graph.op.Reduce;
import dev.espalier.graph.op.Softmax;
import dev.espalier.graph.op.TopK;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Shape;
import dev.espalier.graph.type.Tensor;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.LongUnaryOperator;
import java.util.stream.IntStream;

/** What looks at whole lines of a tensor: the lines are brought one behind the other first, and become rows. */
final class Reductions {
    private Reductions() {}

    /** The axes in an order that has some of them last. */
    private static int[] bringLast(Collection<Integer> axes, int rank) {
        IntStream others = IntStream.range(0, rank).filter(axis -> !axes.contains(axis));
        return IntStream.concat(others, axes.stream().mapToInt(axis -> axis)).toArray();
    }

    private static Tensor bringBack(Tensor rows, int[] permutation) {
        int[] inverse = new int[permutation.length];
        for (int axis = 0; axis < inverse.length; axis++) {
            inverse[permutation[axis]] = axis;
        }
        return Moves.transpose(rows, inverse);
    }

    static Tensor reduce(Reduce.Function function, Tensor input, Set<Integer> axes, long[] shape) {
        long length = 1;
        for (int axis : axes) {
            length *= input.shape()[axis];
        }
        long count = length;
        Tensor rows = Moves.transpose(input, bringLast(axes, input.rank()));
        return input.type().isFloat()
                ? Tensor.compute(input.type(), shape, row -> reduce(function, rows, row * count, count))
                : Tensor.computeLongs(input.type(), shape, row -> reduceWhole(function, rows, row * count, count));
    }

    private static double reduce(Reduce.Function function, Tensor rows, long start, long count) {
        double result = switch (function) {
            case MEAN, SUM, L1, L2, SUM_OF_SQUARES -> 0;
            case PRODUCT -> 1;
            case MAX, LOG_SUM_EXP -> Double.NEGATIVE_INFINITY;
            case MIN -> Double.POSITIVE_INFINITY;
        };
        for (long i = start; i < start + count; i++) {
            double x = rows.getDouble(i);
            result = switch (function) {
                case MEAN, SUM -> result + x;
                case L1 -> result + Math.abs(x);
                case L2, SUM_OF_SQUARES -> result + x * x;
                case PRODUCT -> result * x;
                case MAX, LOG_SUM_EXP -> Math.max(result, x);
                case MIN -> Math.min(result, x);
            };
        }
        return switch (function) {
            case MEAN -> result / count;
            case L2 -> Math.sqrt(result);
            case LOG_SUM_EXP -> logSumExp(rows, start, count, result);
            case SUM, L1, SUM_OF_SQUARES, PRODUCT, MAX, MIN -> result;
        };
    }

    /** {@code ln Σ eˣ}, with the largest x taken out so that no exponential overflows. */
    private static double logSumExp(Tensor rows, long start, long count, double largest) {
        if (Double.isInfinite(largest)) {
            return largest;
        }
        double sum = 0;
        for (long i = start; i < start + count; i++) {
            sum += Math.exp(rows.getDouble(i) - largest);
        }
        return largest + Math.log(sum);
    }

    /** ONNX Runtime adds up exponentials as integers, of which only those of the largest, 1, are not 0. */
    private static long integerLogSumExp(Tensor rows, long start, long count) {
        long largest = Long.MIN_VALUE;
        for (long i = start; i < start + count; i++) {
            largest = Math.max(largest, rows.getLong(i));
        }
        long sum = 0;
        for (long i = start; i < start + count; i++) {
            sum += (long) Math.exp((double) (rows.getLong(i) - largest));
        }
        return (long) (largest + Math.log((double) sum));
    }

    private static long reduceWhole(Reduce.Function function, Tensor rows, long start, long count) {
        long result = switch (function) {
            case MEAN, SUM, L1, SUM_OF_SQUARES -> 0;
            case PRODUCT -> 1;
            case MAX -> Long.MIN_VALUE;
            case MIN -> Long.MAX_VALUE;
            case L2 -> (long) reduce(function, rows, start, count);
            case LOG_SUM_EXP -> integerLogSumExp(rows, start, count);
        };
        for (long i = start; i < start + count; i++) {
            long x = rows.getLong(i);
            result = switch (function) {
                case MEAN, SUM -> result + x;
                case L1 -> result + Math.abs(x);
                case SUM_OF_SQUARES -> result + x * x;
                case PRODUCT -> result * x;
                case MAX -> Math.max(result, x);
                case MIN -> Math.min(result, x);
                case L2, LOG_SUM_EXP -> result;
            };
        }
        return function == Reduce.Function.MEAN && count > 0 ? result / count : result;
    }

    static Tensor argReduce(ArgReduce operator, Tensor input, long[] shape) {
        int axis = Shape.axis(operator.axis(), input.rank());
        long length = input.shape()[axis];
        if (length == 0) {
            throw new IllegalArgumentException("axis " + axis + " of " + input + " has no element to choose");
        }
        Tensor rows = Moves.transpose(input, bringLast(List.of(axis), input.rank()));
        return Tensor.computeLongs(DataType.INT64, shape, row -> {
            long best = row * length;
            for (long i = best + 1; i < (row + 1) * length; i++) {
                int order = rows.type().isFloat()
                        ? Double.compare(rows.getDouble(i) + 0.0, rows.getDouble(best) + 0.0)
                        : Long.compare(rows.getLong(i), rows.getLong(best));
                best = (operator.largest() ? order > 0 : order < 0) ? i : best;
            }
            return best - row * length;
        });
    }

    static Tensor softmax(Softmax operator, Tensor input) {
        int axis = Shape.axis(operator.axis(), input.rank());
        int[] permutation = bringLast(List.of(axis), input.rank());
        Tensor rows = Moves.transpose(input, permutation);
        int length = Math.toIntExact(input.shape()[axis]);
        double[] results = new double[Math.toIntExact(input.size())];
        for (int start = 0; start < results.length; start += length) {
            double largest = reduce(Reduce.Function.MAX, rows, start, length);
            double sum = 0;
            for (int i = start; i < start + length; i++) {
                results[i] = rows.getDouble(i) - largest;
                sum += Math.exp(results[i]);
            }
            for (int i = start; i < start + length; i++) {
                results[i] = operator.logarithm() ? results[i] - Math.log(sum) : Math.exp(results[i]) / sum;
            }
        }
        return bringBack(Tensor.compute(input.type(), rows.shape(), i -> results[(int) i]), permutation);
    }

    static Tensor layerNorm(LayerNorm operator, Tensor input, Tensor scale, LongUnaryOperator scaleAt, Shift shift) {
        int axis = Shape.axis(operator.axis(), input.rank());
        long count = Indices.product(input.shape(), axis, input.rank());
        long rows = Indices.product(input.shape(), 0, axis);
        double[] means = new double[Math.toIntExact(rows)];
        double[] deviations = new double[means.length];
        for (int row = 0; row < means.length; row++) {
            means[row] = reduce(Reduce.Function.MEAN, input, row * count, count);
            double squares = 0;
            for (long i = row * count; i < (row + 1) * count; i++) {
                double difference = input.getDouble(i) - means[row];
                squares += difference * difference;
            }
            deviations[row] = Math.sqrt(squares / count + operator.epsilon());
        }
        return Tensor.compute(input.type(), input.shape(), i -> {
            int row = (int) (i / count);
            double normal = (input.getDouble(i) - means[row]) / deviations[row];
            return normal * scale.getDouble(scaleAt.applyAsLong(i)) + shift.at(i);
        });
    }

    /** What is added to an element, by its position. */
    @FunctionalInterface
    interface Shift {
        double at(long index);
    }

    /** The first of equal elements comes first. */
    static List<Tensor> topK(TopK operator, Tensor input, long[] shape) {
        int axis = Shape.axis(operator.axis(), input.rank());
        int[] permutation = bringLast(List.of(axis), input.rank());
        Tensor rows = Moves.transpose(input, permutation);
        int length = Math.toIntExact(input.shape()[axis]);
        int count = Math.toIntExact(shape[axis]);
        // Both zeros are equal: the sum with zero is the positive one.
        Comparator<Integer> smallest = input.type().isFloat()
                ? Comparator.comparingDouble(at -> rows.getDouble(at) + 0.0)
                : Comparator.comparingLong(at -> rows.getLong(at));
        Comparator<Integer> order = operator.largest() ? smallest.reversed() : smallest;
        long[] chosen = new long[Math.toIntExact(Tensor.size(shape))];
        for (int row = 0; row * count < chosen.length; row++) {
            int start = row * length;
            int[] best = IntStream.range(start, start + length)
                    .boxed()
                    .sorted(order)
                    .limit(count)
                    .mapToInt(at -> at - start)
                    .toArray();
            for (int i = 0; i < count; i++) {
                chosen[row * count + i] = best[i];
            }
        }
        long[] turned = rows.shape();
        turned[turned.length - 1] = count;
        Tensor positions = bringBack(Tensor.of(chosen, turned), permutation);
        Tensor values = Objects.requireNonNull(
                        Evaluator.evaluate(new GatherElements(operator.axis()), List.of(input, positions)))
                .getFirst();
        return List.of(values, positions);
    }

    static Tensor cumSum(CumSum operator, Tensor input) {
        int axis = Shape.axis(operator.axis(), input.rank());
        int[] permutation = bringLast(List.of(axis), input.rank());
        Tensor rows = Moves.transpose(input, permutation);
        int length = Math.toIntExact(input.shape()[axis]);
        int size = Math.toIntExact(input.size());
        // One of the two stays unused: sums of whole numbers wrap around, sums of others round.
        double[] sums = new double[input.type().isFloat() ? size : 0];
        long[] wholeSums = new long[input.type().isFloat() ? 0 : size];
        for (int start = 0; start < size; start += length) {
            double sum = 0;
            long wholeSum = 0;
            for (int i = 0; i < length; i++) {
                int at = start + (operator.reverse() ? length - 1 - i : i);
                if (input.type().isFloat()) {
                    double before = sum;
                    sum += rows.getDouble(at);
                    sums[at] = operator.exclusive() ? before : sum;
                } else {
                    long before = wholeSum;
                    wholeSum += rows.getLong(at);
                    wholeSums[at] = operator.exclusive() ? before : wholeSum;
                }
            }
        }
        Tensor result = input.type().isFloat()
                ? Tensor.compute(input.type(), rows.shape(), i -> sums[(int) i])
                : Tensor.computeLongs(input.type(), rows.shape(), i -> wholeSums[(int) i]);
        return bringBack(result, permutation);
    }
}
