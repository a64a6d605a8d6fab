package dev.espalier.graph.eval;

import dev.espalier.graph.op.Gemm;
import dev.espalier.graph.type.Tensor;
import java.util.Arrays;
import java.util.function.LongUnaryOperator;
import org.jspecify.annotations.Nullable;

/** Products of matrices. */
final class Products {
    private Products() {}

    static double[] doubles(Tensor tensor) {
        double[] numbers = new double[Math.toIntExact(tensor.size())];
        for (int i = 0; i < numbers.length; i++) {
            numbers[i] = tensor.getDouble(i);
        }
        return numbers;
    }

    /** Vectors count as a row on the left, and as a column on the right. */
    static Tensor matMul(Tensor left, Tensor right, long[] shape) {
        long[] a = left.rank() == 1 ? new long[] {1, left.size()} : left.shape();
        long[] b = right.rank() == 1 ? new long[] {right.size(), 1} : right.shape();
        int matrices = shape.length - (left.rank() > 1 ? 1 : 0) - (right.rank() > 1 ? 1 : 0);
        long[] common = Arrays.copyOf(shape, matrices);
        LongUnaryOperator leftMatrix = Indices.broadcast(Arrays.copyOf(a, a.length - 2), common);
        LongUnaryOperator rightMatrix = Indices.broadcast(Arrays.copyOf(b, b.length - 2), common);
        long rows = a[a.length - 2];
        long inner = a[a.length - 1];
        long columns = b[b.length - 1];
        if (!left.type().isFloat()) {
            return Tensor.computeLongs(left.type(), shape, index -> {
                long matrix = index / columns / rows;
                long from = (leftMatrix.applyAsLong(matrix) * rows + index / columns % rows) * inner;
                long to = rightMatrix.applyAsLong(matrix) * inner * columns + index % columns;
                long sum = 0;
                for (long i = 0; i < inner; i++) {
                    sum += left.getLong(from + i) * right.getLong(to + i * columns);
                }
                return sum;
            });
        }
        double[] x = doubles(left);
        double[] y = doubles(right);
        double[] product = new double[Math.toIntExact(Tensor.size(shape))];
        for (int start = 0; start < product.length; start += (int) columns) {
            long matrix = start / columns / rows;
            int from = (int) ((leftMatrix.applyAsLong(matrix) * rows + start / columns % rows) * inner);
            int to = (int) (rightMatrix.applyAsLong(matrix) * inner * columns);
            for (int i = 0; i < inner; i++) {
                double factor = x[from + i];
                int row = to + i * (int) columns;
                for (int column = 0; column < columns; column++) {
                    product[start + column] += factor * y[row + column];
                }
            }
        }
        return Tensor.compute(left.type(), shape, i -> product[(int) i]);
    }

    static Tensor gemm(Gemm operator, Tensor left, Tensor right, @Nullable Tensor bias, long[] shape) {
        double[] x = doubles(operator.transposeA() ? Moves.transpose(left, 1, 0) : left);
        double[] y = doubles(operator.transposeB() ? right : Moves.transpose(right, 1, 0));
        int inner = (int) left.shape()[operator.transposeA() ? 0 : 1];
        int columns = (int) shape[1];
        LongUnaryOperator biasAt = Indices.broadcast(bias == null ? new long[0] : bias.shape(), shape);
        return Tensor.compute(left.type(), shape, index -> {
            int from = (int) (index / columns) * inner;
            int to = (int) (index % columns) * inner;
            double sum = 0;
            for (int i = 0; i < inner; i++) {
                sum += x[from + i] * y[to + i];
            }
            double shift = bias == null ? 0 : operator.beta() * bias.getDouble(biasAt.applyAsLong(index));
            return operator.alpha() * sum + shift;
        });
    }
}
