package dev.espalier.graph.eval;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.graph.op.ArgReduce;
import dev.espalier.graph.op.Binary;
import dev.espalier.graph.op.Concat;
import dev.espalier.graph.op.Conv;
import dev.espalier.graph.op.CumSum;
import dev.espalier.graph.op.Elementwise.Unary;
import dev.espalier.graph.op.Expand;
import dev.espalier.graph.op.Fact;
import dev.espalier.graph.op.Flatten;
import dev.espalier.graph.op.Gather;
import dev.espalier.graph.op.GatherElements;
import dev.espalier.graph.op.Gemm;
import dev.espalier.graph.op.GlobalPool;
import dev.espalier.graph.op.LayerNorm;
import dev.espalier.graph.op.MatMul;
import dev.espalier.graph.op.Operands;
import dev.espalier.graph.op.Operator;
import dev.espalier.graph.op.Pad;
import dev.espalier.graph.op.Pool;
import dev.espalier.graph.op.Reduce;
import dev.espalier.graph.op.Reshape;
import dev.espalier.graph.op.ShapeOf;
import dev.espalier.graph.op.Size;
import dev.espalier.graph.op.Slice;
import dev.espalier.graph.op.Softmax;
import dev.espalier.graph.op.Split;
import dev.espalier.graph.op.Squeeze;
import dev.espalier.graph.op.Tile;
import dev.espalier.graph.op.Transpose;
import dev.espalier.graph.op.Unsqueeze;
import dev.espalier.graph.op.Variadic;
import dev.espalier.graph.op.Where;
import dev.espalier.graph.op.Windows;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Dimension;
import dev.espalier.graph.type.Shape;
import dev.espalier.graph.type.Tensor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Inferred types against computed ones: with all lengths known, and with some of them symbols. */
class InferenceTest {
    /**
     * An operator with inputs that fit it.
     *
     * @param operator the operator
     * @param inputs its inputs
     * @param open how many of the inputs, from the first on, may have symbolic lengths
     */
    private record Trial(Operator operator, List<Tensor> inputs, int open) {}

    private static final class Trials {
        private final Random random;

        Trials(long seed) {
            random = new Random(seed);
        }

        long upTo(long most) {
            return random.nextLong(1, most + 1);
        }

        long[] shape(int least, int most) {
            return LongStream.generate(() -> upTo(5))
                    .limit(random.nextInt(least, most + 1))
                    .toArray();
        }

        Tensor floats(long... shape) {
            return Tensor.compute(DataType.FLOAT32, shape, i -> random.nextGaussian());
        }

        Tensor indices(long below, long... shape) {
            return Tensor.computeLongs(DataType.INT64, shape, i -> random.nextLong(-below, below));
        }

        /** A shape that is broadcast with another one. */
        long[] besides(long[] shape) {
            long[] other = Arrays.copyOfRange(shape, random.nextInt(shape.length + 1), shape.length);
            for (int axis = 0; axis < other.length; axis++) {
                other[axis] = random.nextInt(3) == 0 ? 1 : other[axis];
            }
            return other;
        }

        List<Long> permutation(int rank) {
            List<Long> axes = new ArrayList<>(LongStream.range(0, rank).boxed().toList());
            Collections.shuffle(axes, random);
            return axes;
        }

        long axis(int rank) {
            return random.nextInt(-rank, rank);
        }

        Windows windows(long[] lengths, List<Long> kernel) {
            List<Long> strides = new ArrayList<>();
            List<Long> pads = new ArrayList<>(Collections.nCopies(2 * lengths.length, 0L));
            List<Long> dilations = new ArrayList<>();
            for (int axis = 0; axis < lengths.length; axis++) {
                strides.add(upTo(3));
                dilations.add(kernel.get(axis) == 1 ? upTo(3) : 1);
                pads.set(axis, random.nextLong(kernel.get(axis)));
                pads.set(axis + lengths.length, random.nextLong(kernel.get(axis)));
            }
            return new Windows(strides, pads, dilations);
        }

        Trial next() {
            long[] shape = shape(1, 4);
            int rank = shape.length;
            int axis = random.nextInt(rank);
            Tensor x = floats(shape);
            return switch (random.nextInt(29)) {
                case 0 -> new Trial(new Unary(Unary.Function.TANH), List.of(x), 1);
                case 1 -> new Trial(new Binary(Binary.Function.SUBTRACT), List.of(x, floats(besides(shape))), 2);
                case 2 -> new Trial(new Binary(Binary.Function.LESS), List.of(floats(besides(shape)), x), 2);
                case 3 ->
                    new Trial(
                            new Variadic(Variadic.Function.MEAN),
                            List.of(floats(besides(shape)), x, floats(besides(shape))),
                            3);
                case 4 ->
                    new Trial(
                            new Where(),
                            List.of(floats(besides(shape)).cast(DataType.BOOL), x, floats(besides(shape))),
                            3);
                case 5 -> matMul(shape);
                case 6 -> gemm();
                case 7, 8 -> conv();
                case 9, 10, 11 -> pool();
                case 12 ->
                    new Trial(
                            new Reduce(
                                    Reduce.Function.MAX,
                                    permutation(rank).subList(0, random.nextInt(rank + 1)),
                                    random.nextBoolean()),
                            List.of(x),
                            1);
                case 13 -> new Trial(new ArgReduce(true, axis(rank), random.nextBoolean()), List.of(x), 1);
                case 14 -> new Trial(new Softmax(axis(rank), random.nextBoolean()), List.of(x), 1);
                case 15 -> concat(shape, axis);
                case 16 -> new Trial(new Split(axis, List.of(1L, shape[axis] - 1)), List.of(x), 0);
                case 17 -> slice(x, axis);
                case 18 -> new Trial(new Gather(axis), List.of(x, indices(shape[axis], shape(0, 2))), 2);
                case 19 -> new Trial(new GatherElements(axis), List.of(x, indices(shape[axis], shape)), 2);
                case 20 -> reshape(x);
                case 21 -> new Trial(new Flatten(random.nextInt(-rank, rank + 1)), List.of(x), 1);
                case 22 -> new Trial(new Transpose(permutation(rank)), List.of(x), 1);
                case 23 -> squeeze(shape, axis);
                case 24 -> new Trial(new Expand(), List.of(floats(besides(shape)), Tensor.of(shape)), 1);
                case 25 ->
                    new Trial(
                            new Tile(),
                            List.of(
                                    x,
                                    Tensor.of(LongStream.generate(() -> upTo(3))
                                            .limit(rank)
                                            .toArray())),
                            1);
                case 26 -> pad(x);
                case 27 ->
                    random.nextBoolean()
                            ? new Trial(new ShapeOf(axis(rank), axis(rank)), List.of(x), 1)
                            : new Trial(new Size(), List.of(x), 1);
                default ->
                    random.nextBoolean()
                            ? new Trial(new CumSum(axis(rank), false, true), List.of(x), 1)
                            : new Trial(new LayerNorm(axis(rank), 1), List.of(x, floats(1)), 1);
            };
        }

        private Trial matMul(long[] batch) {
            long inner = upTo(4);
            long[] left = LongStream.concat(Arrays.stream(besides(batch)), LongStream.of(upTo(4), inner))
                    .toArray();
            long[] right = LongStream.concat(Arrays.stream(batch), LongStream.of(inner, upTo(4)))
                    .toArray();
            return switch (random.nextInt(4)) {
                case 0 -> new Trial(new MatMul(), List.of(floats(inner), floats(right)), 2);
                case 1 -> new Trial(new MatMul(), List.of(floats(left), floats(inner)), 2);
                default -> new Trial(new MatMul(), List.of(floats(left), floats(right)), 2);
            };
        }

        private Trial gemm() {
            long rows = upTo(4);
            long inner = upTo(4);
            long columns = upTo(4);
            boolean a = random.nextBoolean();
            boolean b = random.nextBoolean();
            Tensor left = a ? floats(inner, rows) : floats(rows, inner);
            Tensor right = b ? floats(columns, inner) : floats(inner, columns);
            return new Trial(new Gemm(1, 1, a, b), List.of(left, right, floats(columns)), 2);
        }

        private Trial conv() {
            long[] lengths =
                    LongStream.generate(() -> 3 + upTo(6)).limit(upTo(3)).toArray();
            List<Long> kernel =
                    Arrays.stream(lengths).mapToObj(length -> upTo(3)).toList();
            long groups = upTo(2);
            long[] input = LongStream.concat(LongStream.of(upTo(2), 2 * groups), Arrays.stream(lengths))
                    .toArray();
            long[] weight = LongStream.concat(
                            LongStream.of(groups * upTo(2), 2), kernel.stream().mapToLong(length -> length))
                    .toArray();
            return new Trial(new Conv(windows(lengths, kernel), groups), List.of(floats(input), floats(weight)), 1);
        }

        private Trial pool() {
            long[] lengths =
                    LongStream.generate(() -> 3 + upTo(6)).limit(upTo(3)).toArray();
            List<Long> kernel =
                    Arrays.stream(lengths).mapToObj(length -> upTo(3)).toList();
            long[] input = LongStream.concat(LongStream.of(1, 2), Arrays.stream(lengths))
                    .toArray();
            if (random.nextInt(4) == 0) {
                return new Trial(new GlobalPool(Pool.Function.MAX), List.of(floats(input)), 1);
            }
            Pool pool = new Pool(
                    random.nextBoolean() ? Pool.Function.MAX : Pool.Function.AVERAGE,
                    kernel,
                    windows(lengths, kernel),
                    random.nextBoolean(),
                    random.nextBoolean());
            return new Trial(pool, List.of(floats(input)), 1);
        }

        private Trial concat(long[] shape, int axis) {
            long[] other = shape.clone();
            other[axis] = upTo(3);
            return new Trial(new Concat(axis - (long) shape.length), List.of(floats(shape), floats(other)), 2);
        }

        /** Lengths that are not known are taken to be long enough, so positions are inside. */
        private Trial slice(Tensor x, int axis) {
            long length = x.shape()[axis];
            long start = random.nextLong(length);
            long end = random.nextLong(start, length + 1);
            long fromEnd = random.nextBoolean() ? length : 0;
            return new Trial(
                    new Slice(),
                    List.of(
                            x,
                            Tensor.of(new long[] {start - (start == 0 ? 0 : fromEnd)}),
                            Tensor.of(new long[] {end == length ? Long.MAX_VALUE : end - fromEnd}),
                            Tensor.of(new long[] {axis}),
                            Tensor.of(new long[] {1 + random.nextInt(2)})),
                    1);
        }

        private Trial reshape(Tensor x) {
            List<Long> target = new ArrayList<>();
            for (long length : x.shape()) {
                target.add(target.size(), random.nextInt(3) == 0 ? 0 : length);
            }
            if (random.nextBoolean()) {
                target.set(random.nextInt(target.size()), -1L);
            }
            target.add(1L);
            return new Trial(
                    Reshape.DEFAULT,
                    List.of(
                            x,
                            Tensor.of(
                                    target.stream().mapToLong(length -> length).toArray())),
                    1);
        }

        private Trial squeeze(long[] shape, int axis) {
            if (random.nextBoolean()) {
                return new Trial(new Unsqueeze(List.of(0L, -1L)), List.of(floats(shape)), 1);
            }
            shape[axis] = 1;
            return new Trial(new Squeeze(List.of((long) axis)), List.of(floats(shape)), 1);
        }

        private Trial pad(Tensor x) {
            List<Long> pads = new ArrayList<>();
            for (int i = 0; i < 2 * x.rank(); i++) {
                long half = x.shape()[i % x.rank()] / 2;
                pads.add(random.nextLong(-half, 3));
            }
            return new Trial(new Pad(random.nextBoolean() ? Pad.Mode.CONSTANT : Pad.Mode.EDGE, pads, 1), List.of(x), 1);
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4})
    void inferredTypesAreTheComputedOnes(long seed) {
        Trials trials = new Trials(seed);
        for (int i = 0; i < 500; i++) {
            Trial trial = trials.next();
            String replay = "seed " + seed + ", trial " + i + ": " + trial;
            List<Tensor> results = evaluate(trial, replay);
            List<@Nullable Fact> facts =
                    new ArrayList<>(trial.inputs.stream().map(Fact::of).toList());
            List<Fact> inferred = trial.operator.infer(new Operands(facts, "node"));
            assertEquals(
                    results.stream().map(Tensor::tensorType).toList(),
                    inferred.stream().map(Fact::type).toList(),
                    replay);
            for (int output = 0; output < results.size(); output++) {
                Tensor known = inferred.get(output).constant();
                assertTrue(known == null || known.sameAs(results.get(output)), replay);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {5, 6, 7, 8})
    void formulasOfSymbolsHoldForTheirNumbers(long seed) {
        Trials trials = new Trials(seed);
        int checked = 0;
        for (int i = 0; i < 500; i++) {
            Trial trial = trials.next();
            String replay = "seed " + seed + ", trial " + i + ": " + trial;
            Map<String, Long> symbols = new HashMap<>();
            List<@Nullable Fact> facts = new ArrayList<>();
            for (int input = 0; input < trial.inputs.size(); input++) {
                Tensor tensor = trial.inputs.get(input);
                facts.add(
                        input < trial.open
                                ? Fact.of(tensor.type(), open(tensor, input, trials.random, symbols))
                                : Fact.of(tensor));
            }
            List<Fact> inferred = trial.operator.infer(new Operands(facts, "node"));
            List<Tensor> results = evaluate(trial, replay);
            for (int output = 0; output < results.size(); output++) {
                Tensor result = results.get(output);
                Fact fact = inferred.get(output);
                assertEquals(result.type(), fact.data(), replay);
                checked += check(fact.shape().dimensions(), result.shape(), symbols, replay);
                List<Dimension> elements = fact.elements();
                if (elements != null) {
                    checked += check(elements, result.toLongs(), symbols, replay);
                }
            }
        }
        assertTrue(checked > 400, "only " + checked + " lengths were formulas");
    }

    private static List<Tensor> evaluate(Trial trial, String replay) {
        return Objects.requireNonNull(
                Evaluator.evaluate(trial.operator, new ArrayList<@Nullable Tensor>(trial.inputs)), replay);
    }

    private static Shape open(Tensor tensor, int input, Random random, Map<String, Long> symbols) {
        return new Shape(IntStream.range(0, tensor.rank())
                .mapToObj(axis -> {
                    long length = tensor.shape()[axis];
                    if (random.nextBoolean()) {
                        return Dimension.of(length);
                    }
                    String name = "length%d_%d".formatted(input, axis);
                    symbols.put(name, length);
                    return Dimension.symbol(name);
                })
                .toList());
    }

    /** Returns how many of the formulas had a symbol; those that are new symbols of their own say nothing. */
    private static int check(List<Dimension> formulas, long[] numbers, Map<String, Long> symbols, String replay) {
        assertEquals(numbers.length, formulas.size(), replay);
        int checked = 0;
        for (int i = 0; i < numbers.length; i++) {
            Dimension formula = formulas.get(i);
            if (!formula.toString().contains("node.")) {
                assertEquals(numbers[i], Formula.value(formula.toString(), symbols), replay + " gives " + formula);
                checked += formula.isKnown() ? 0 : 1;
            }
        }
        return checked;
    }
}
