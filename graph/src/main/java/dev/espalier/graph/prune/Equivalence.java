package dev.espalier.graph.prune;

import dev.espalier.graph.Graph;
import dev.espalier.graph.GraphException;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;

/**
 * How far the outputs of two models are apart that should compute the same function.
 *
 * <p>Two things explain a difference of models that are equal. Rounding in single precision: it is held against how far an
 * output moves when other inputs are fed, for an output of 1000 that moves by 0.01 from one input to the next proves nothing
 * if it is right up to 0.1; but against no less than a hundredth of the largest number that it has for any of the inputs, since
 * rounding is relative to that: the only token of a text may hardly move a score, yet what it is made of is as large as ever.
 * And what a runtime makes of one and the same model when it computes it in another way that is legal, or when its weights have
 * other last digits: its own spread. A model may be off by a few times that, but never by more than a hundredth of what other
 * inputs move: then it is another model, or there is nothing to be known. Where the movement itself is lost in the spread, as of a probability that is zero
 * all over a picture, the output is held against how far it moves elsewhere; and where it is lost everywhere, nothing is proved as
 * long as models differ by no more than the runtime's noise.
 *
 * @param outputs every output, once for all inputs that were fed
 */
public record Equivalence(List<Output> outputs) {

    /** What rounding in single precision may leave, as a share of how far an output moves: {@value}. */
    public static final double TOLERANCE = 1e-4;

    /** Rounding is at most this share of the largest number, times {@link #TOLERANCE}. */
    private static final double LEAST_MOVEMENT = 1e-2;

    /** Another order of sums is another sample of rounding: it may be this many times as far off as the runtime from itself. */
    private static final double SPREADS = 4;

    /** However much the runtime differs from itself: beyond this share of the movement models are not equal. */
    private static final double MOST = 1e-2;

    /** What a runtime's functions that end at 1, a sigmoid or softmax, may be off by however small they are: 4 · 2⁻²³. */
    private static final double NOISE = 0x1p-21;

    /** What rounding to ten binary digits behind the point may leave, where {@link #TOLERANCE} is for 23. */
    private static final double HALF = 1e-2;

    /** The same for seven. */
    private static final double BRAIN = 5e-2;

    /** Takes a copy. */
    public Equivalence {
        outputs = List.copyOf(outputs);
    }

    /** A model that can be run. */
    @FunctionalInterface
    public interface Model {
        /**
         * Runs it once.
         *
         * @param inputs what is fed in, by name
         * @return what comes out, by name
         */
        Map<String, Tensor> run(Map<String, Tensor> inputs);
    }

    /**
     * An output for some inputs. Distances are the largest of two numbers; of whole numbers and truth values, the share that
     * differs.
     *
     * @param name its name
     * @param inputs what was fed in, in words; empty if there is nothing to say
     * @param difference how far the models are apart
     * @param spread how far the first model is from itself when it is computed in other ways, or with other last digits
     * @param yardstick how far the output moves when other inputs are fed, or what stands for it
     * @param scale its largest number
     * @param moves whether it moves at all; if not, little is proved
     */
    public record Output(
            String name,
            String inputs,
            double difference,
            double spread,
            double yardstick,
            double scale,
            boolean moves) {

        private double relative() {
            return difference == 0 ? 0 : difference / yardstick;
        }

        /** Whether other inputs move it so little that the runtime's spread would explain more than it may. */
        private boolean isLost() {
            return Double.isFinite(spread) && SPREADS * spread > MOST * yardstick;
        }

        /** Whether there is nothing in it but the runtime's noise, and the models differ by no more than that. */
        private boolean isNoise() {
            return isLost() && difference <= Math.min(SPREADS * spread, NOISE);
        }

        private Output withSpread(double other) {
            return new Output(name, inputs, difference, Math.max(spread, other), yardstick, scale, moves);
        }

        private Output heldAgainst(double other) {
            return new Output(name, inputs, difference, spread, Math.max(yardstick, other), scale, moves);
        }

        /** The largest relative difference that is taken for rounding. */
        private double allowed(double tolerance) {
            double explained = spread == 0 ? 0 : SPREADS * spread / yardstick;
            return Math.max(tolerance, Math.min(explained, MOST));
        }
    }

    /**
     * What rounding may leave of a model, as a share of how far an output moves.
     *
     * @param model the model
     * @return {@link #TOLERANCE}, or more if something in it is of half precision
     */
    public static double tolerance(Graph model) {
        Set<DataType> types = new HashSet<>();
        model.inputs().forEach(input -> types.add(input.type().data()));
        model.nodes()
                .forEach(node -> node.outputs()
                        .forEach(output -> types.add(model.fact(output).data())));
        return types.contains(DataType.BFLOAT16) ? BRAIN : types.contains(DataType.FLOAT16) ? HALF : TOLERANCE;
    }

    /**
     * Runs both models on the same inputs.
     *
     * @param before the model
     * @param after the model that should compute the same
     * @param inputs what both are fed with
     * @param runner who runs them
     * @return how far they are apart
     */
    public static Equivalence measure(Graph before, Graph after, Map<String, Tensor> inputs, Runner runner) {
        return measure(List.of(fed -> runner.run(before, fed)), fed -> runner.run(after, fed), inputs, "");
    }

    /**
     * Runs both models on the same inputs.
     *
     * @param before the model, in all ways in which it is computed; the first one is what the other model is held against
     * @param after the model that should compute the same
     * @param inputs what both are fed with
     * @param words what these inputs are, for messages
     * @return how far they are apart
     */
    public static Equivalence measure(
            List<? extends Model> before, Model after, Map<String, Tensor> inputs, String words) {
        Map<String, Tensor> expected = before.getFirst().run(inputs);
        Map<String, Tensor> actual = after.run(inputs);
        Map<String, Tensor> others = before.getFirst().run(shifted(inputs));
        List<Map<String, Tensor>> again =
                before.stream().skip(1).map(way -> Map.copyOf(way.run(inputs))).toList();
        List<Output> outputs = new ArrayList<>();
        expected.forEach((name, wanted) -> {
            String output = "output " + name + (words.isEmpty() ? "" : " for " + words);
            Tensor found = tensor(actual, name);
            requireSameType(output, wanted, found);
            double spread = again.stream()
                    .map(one -> tensor(one, name))
                    .filter(one -> Arrays.equals(one.shape(), wanted.shape())) // else last digits decide on lengths
                    .mapToDouble(one -> distance(wanted, one))
                    .max()
                    .orElse(0);
            outputs.add(output(name, words, wanted, found, tensor(others, name), spread));
        });
        return new Equivalence(outputs);
    }

    /**
     * This and what other inputs showed.
     *
     * @param other the same models with other inputs
     * @return both
     */
    public Equivalence and(Equivalence other) {
        List<Output> both = new ArrayList<>(outputs);
        both.addAll(other.outputs);
        return new Equivalence(both);
    }

    /**
     * The same, where a model is as far from itself as others showed it to be: by the spread of each output for the same inputs, and by
     * the largest for any, as a share of its largest number, since a single number may be right by luck.
     *
     * @param other the first model, or what was read of it, with the same inputs
     * @return the same differences, with no less spread
     */
    public Equivalence withSpreadOf(Equivalence other) {
        return new Equivalence(outputs.stream()
                .map(output -> output.withSpread(
                        Math.max(other.spread(output), output.scale() * other.relativeSpread(output.name()))))
                .toList());
    }

    /** For the same inputs. */
    private double spread(Output of) {
        return outputs.stream()
                .filter(output -> output.name().equals(of.name())
                        && output.inputs().equals(of.inputs())
                        && Double.isFinite(output.spread()))
                .mapToDouble(Output::spread)
                .max()
                .orElse(0);
    }

    private double relativeSpread(String name) {
        double scale = largest(name, Output::scale);
        double spread = largest(name, output -> Double.isFinite(output.spread()) ? output.spread() : 0);
        return spread > 0 && scale > 0 ? spread / scale : 0;
    }

    /** Other inputs of the same kind: every number in its neighbour's place. */
    private static Map<String, Tensor> shifted(Map<String, Tensor> inputs) {
        Map<String, Tensor> moved = new HashMap<>();
        inputs.forEach((name, tensor) -> moved.put(
                name, Tensor.compute(tensor.type(), tensor.shape(), i -> tensor.getDouble((i + 1) % tensor.size()))));
        return moved;
    }

    private static Tensor tensor(Map<String, Tensor> outputs, String name) {
        Tensor tensor = outputs.get(name);
        if (tensor == null) {
            throw new GraphException("output " + name + " did not come out; there are " + outputs.keySet());
        }
        return tensor;
    }

    private static void requireSameType(String output, Tensor expected, Tensor actual) {
        if (expected.type() != actual.type() || !Arrays.equals(expected.shape(), actual.shape())) {
            throw new GraphException("%s was %s%s, and now it is %s%s"
                    .formatted(
                            output,
                            expected.type(),
                            Arrays.toString(expected.shape()),
                            actual.type(),
                            Arrays.toString(actual.shape())));
        }
    }

    private static Output output(
            String name, String words, Tensor expected, Tensor actual, Tensor other, double spread) {
        double scale = expected.type().isFloat() ? scale(expected) : 1;
        double movement = Arrays.equals(expected.shape(), other.shape()) ? distance(expected, other) : scale;
        return new Output(
                name,
                words,
                distance(expected, actual),
                spread,
                Math.max(Double.isFinite(movement) ? movement : scale, LEAST_MOVEMENT * scale),
                scale,
                movement > 0 || !expected.type().isFloat());
    }

    private static double scale(Tensor tensor) {
        double scale = 0;
        for (long i = 0; i < tensor.size(); i++) {
            double value = Math.abs(tensor.getDouble(i));
            scale = Math.max(scale, Double.isFinite(value) ? value : 0);
        }
        return scale;
    }

    /**
     * The largest difference, where infinities and not-a-number are equal to themselves and infinitely far from all else. Whole
     * numbers are no measures but choices, of a class say: of them it is the share that differs.
     */
    private static double distance(Tensor left, Tensor right) {
        double largest = 0;
        long different = 0;
        for (long i = 0; i < left.size(); i++) {
            double a = left.getDouble(i);
            double b = right.getDouble(i);
            if (Double.compare(a, b) != 0) {
                double difference = Math.abs(a - b);
                largest = Math.max(largest, Double.isNaN(difference) ? Double.POSITIVE_INFINITY : difference);
                different++;
            }
        }
        return left.type().isFloat() || different == 0 ? largest : (double) different / left.size();
    }

    /**
     * The largest difference of two numbers.
     *
     * @return of all outputs
     */
    public double absolute() {
        return outputs.stream().mapToDouble(Output::difference).max().orElse(0);
    }

    /**
     * How far the first model is from itself when it is computed in other ways, or with other last digits.
     *
     * @return the largest difference of two numbers, of all outputs
     */
    public double spread() {
        return outputs.stream().mapToDouble(Output::spread).max().orElse(0);
    }

    /**
     * Whether every output of fractions moves for some of the inputs when others are fed; if not, little is proved.
     *
     * @return false if one is always the same
     */
    public boolean moves() {
        Set<String> moving = outputs.stream()
                .filter(output -> output.moves() && !output.isLost())
                .map(Output::name)
                .collect(Collectors.toSet());
        return outputs.stream().map(Output::name).allMatch(moving::contains);
    }

    /**
     * The outputs that tell the models apart.
     *
     * @param tolerance as for {@link #problem}
     * @return their names
     */
    public Set<String> different(double tolerance) {
        return outputs.stream()
                .filter(output ->
                        new Equivalence(List.of(output)).problem(tolerance).isPresent())
                .map(Output::name)
                .collect(Collectors.toSet());
    }

    /**
     * The same without some outputs.
     *
     * @param names theirs
     * @return the others
     */
    public Equivalence without(Set<String> names) {
        return new Equivalence(outputs.stream()
                .filter(output -> !names.contains(output.name()))
                .toList());
    }

    /**
     * What tells the models apart.
     *
     * @param tolerance the largest difference that is taken for rounding whatever the runtime's spread, as a share of how far an
     *     output moves
     * @return a sentence without an end; empty if the models are equal
     */
    public Optional<String> problem(double tolerance) {
        return outputs.stream()
                .map(output -> output.heldAgainst(LEAST_MOVEMENT * largest(output.name(), Output::scale)))
                .map(output -> output.isLost() ? output.heldAgainst(largest(output.name(), Output::yardstick)) : output)
                .filter(output -> !(output.relative() <= output.allowed(tolerance)) && !output.isNoise())
                .max(Comparator.comparingDouble(output -> output.relative() / output.allowed(tolerance)))
                .map(output -> String.format(
                        Locale.ROOT,
                        "output %s%s is off by %.3g of what other inputs move it (%.3g absolute), but rounding explains at most"
                                + " %.3g (the model differs by %.3g absolute from itself when it is computed in another way, or with other last digits)",
                        output.name(),
                        output.inputs().isEmpty() ? "" : " for " + output.inputs(),
                        output.relative(),
                        output.difference(),
                        output.allowed(tolerance),
                        output.spread()));
    }

    private double largest(String name, ToDoubleFunction<Output> measure) {
        return outputs.stream()
                .filter(output -> output.name().equals(name))
                .mapToDouble(measure)
                .max()
                .orElseThrow();
    }

    /**
     * Refuses a model that computes something else.
     *
     * @param tolerance as of {@link #problem}
     * @throws GraphException if the models are further apart
     */
    public void requireEqual(double tolerance) {
        problem(tolerance).ifPresent(problem -> {
            throw new GraphException("the model computes something else: " + problem);
        });
    }
}
