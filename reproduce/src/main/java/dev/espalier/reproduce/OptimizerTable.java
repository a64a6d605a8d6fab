package dev.espalier.reproduce;

import dev.espalier.core.rule.Coefficients;
import dev.espalier.core.rule.UpdateRule;
import dev.espalier.core.schedule.LearningRate;
import dev.espalier.core.step.Optimizer;
import dev.espalier.core.step.Parameter;
import dev.espalier.core.step.ParameterSet;
import dev.espalier.core.step.StepOptions;
import dev.espalier.core.tensor.ElementType;
import dev.espalier.core.tensor.TensorView;
import dev.espalier.report.Unit;
import dev.espalier.reproduce.Comparison.Cell;
import dev.espalier.reproduce.Comparison.Column;
import dev.espalier.reproduce.Comparison.Row;
import java.lang.foreign.Arena;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.function.Supplier;

/**
 * The paper's table of adaptive optimizers: its printed formulas on random gradients, next to the {@link UpdateRule} that
 * trains networks, and Algorithm 1 with them next to the fused step.
 */
final class OptimizerTable implements Item {
    private static final double MOMENTUM = 0.9;
    private static final double RMSPROP_BETA = 0.99;
    private static final double BETA_1 = 0.9;
    private static final double BETA_2 = 0.999;

    /** Large enough to be seen under the root of RMSprop as well as outside of the other roots. */
    private static final double EPSILON = 1e-2;

    private static final int SIZE = 16;
    private static final int STEPS = 1000;
    private static final double RATE = 1e-3;
    private static final String NAME = "x";

    /** A row of the paper's table: m_t and D_t of one weight, as printed, after the gradient of step t. */
    private abstract static class Printed {
        /** m̂, or m where the paper has no m̂. */
        double mean;

        double squares;

        abstract void see(double gradient, int step);

        abstract double direction(int step);

        abstract double metric(int step);
    }

    private static final class Sgd extends Printed {
        @Override
        void see(double gradient, int step) {
            mean = gradient;
        }

        @Override
        double direction(int step) {
            return mean;
        }

        @Override
        double metric(int step) {
            return 1;
        }
    }

    private static final class Momentum extends Printed {
        @Override
        void see(double gradient, int step) {
            mean = MOMENTUM * mean + gradient;
        }

        @Override
        double direction(int step) {
            return mean;
        }

        @Override
        double metric(int step) {
            return 1;
        }
    }

    private static final class AdaGrad extends Printed {
        @Override
        void see(double gradient, int step) {
            mean = gradient;
            squares = squares + gradient * gradient;
        }

        @Override
        double direction(int step) {
            return mean;
        }

        @Override
        double metric(int step) {
            return Math.sqrt(squares) + EPSILON;
        }
    }

    private static final class RmsProp extends Printed {
        @Override
        void see(double gradient, int step) {
            mean = gradient;
            squares = RMSPROP_BETA * squares + (1 - RMSPROP_BETA) * gradient * gradient;
        }

        @Override
        double direction(int step) {
            return mean;
        }

        @Override
        double metric(int step) {
            return Math.sqrt(squares + EPSILON);
        }
    }

    private static final class Adam extends Printed {
        @Override
        void see(double gradient, int step) {
            mean = BETA_1 * mean + (1 - BETA_1) * gradient;
            squares = BETA_2 * squares + (1 - BETA_2) * gradient * gradient;
        }

        @Override
        double direction(int step) {
            return mean / (1 - Math.pow(BETA_1, step));
        }

        @Override
        double metric(int step) {
            return Math.sqrt(squares / (1 - Math.pow(BETA_2, step))) + EPSILON;
        }
    }

    @Override
    public String name() {
        return "table3";
    }

    @Override
    public String title() {
        return "The adaptive optimizers: direction, metric and step, as printed and as coded";
    }

    @Override
    public String place() {
        return "Table 3, Algorithm 1";
    }

    @Override
    public boolean trains() {
        return false;
    }

    @Override
    public Optional<Findings> run(Setting setting) {
        long seed = setting.seeds().getFirst();
        Comparison table = new Comparison(
                "Adaptive optimizers",
                ("m_t and D_t of one weight at the first and last of %d steps with random gradients, ε = %s. Largest differences are"
                                + " relative, over all steps and %d weights. The last column is x after Algorithm 1 in double precision"
                                + " against the fused step in float32.")
                        .formatted(STEPS, Unit.NUMBER.write(EPSILON), SIZE),
                "Optimizer",
                List.of(
                        new Column("m₁", Unit.NUMBER),
                        new Column("D₁", Unit.NUMBER),
                        new Column("m at the end", Unit.NUMBER),
                        new Column("D at the end", Unit.NUMBER),
                        new Column("largest difference of m", Unit.NUMBER),
                        new Column("largest difference of D", Unit.NUMBER),
                        new Column("largest difference of x", Unit.NUMBER)),
                List.of(
                        row("SGD", new UpdateRule.Sgd(), printed(Sgd::new), seed),
                        row("Momentum", new UpdateRule.Momentum(MOMENTUM), printed(Momentum::new), seed),
                        row("AdaGrad", new UpdateRule.AdaGrad(EPSILON), printed(AdaGrad::new), seed),
                        row("RMSprop", new UpdateRule.RmsProp(RMSPROP_BETA, EPSILON), printed(RmsProp::new), seed),
                        row("Adam", new UpdateRule.Adam(BETA_1, BETA_2, EPSILON), printed(Adam::new), seed)));
        return Optional.of(
                new Findings(
                        "the update rules in double precision, and the fused step in float32",
                        List.of(table),
                        List.of(),
                        List.of(
                                "The paper's numbers are its printed formulas, evaluated; ours come from the code that trains.")));
    }

    private static Printed[] printed(Supplier<Printed> each) {
        Printed[] all = new Printed[SIZE];
        Arrays.setAll(all, _ -> each.get());
        return all;
    }

    private static Row row(String name, UpdateRule rule, Printed[] printed, long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        double[] mean = new double[SIZE];
        double[] squares = new double[SIZE];
        double[] x = new double[SIZE];
        double[] paper = new double[4];
        double[] ours = new double[4];
        double worstDirection = 0;
        double worstMetric = 0;
        try (Arena arena = Arena.ofConfined();
                Optimizer optimizer = new Optimizer(
                        rule,
                        List.of(ParameterSet.of(new LearningRate.Constant(RATE), new Parameter(NAME, SIZE))),
                        StepOptions.DEFAULT.withThreads(1))) {
            TensorView weights = tensor(arena);
            TensorView gradients = tensor(arena);
            for (int step = 1; step <= STEPS; step++) {
                Coefficients numbers = rule.at(step);
                for (int i = 0; i < SIZE; i++) {
                    double gradient = (float) (random.nextDouble(-1, 2) * Math.exp(random.nextDouble(-3, 3)));
                    gradients.set(i, gradient);
                    mean[i] = numbers.keepFirst() * mean[i] + numbers.addFirst() * gradient;
                    squares[i] = numbers.keepSecond() * squares[i] + numbers.addSecond() * gradient * gradient;
                    double direction = numbers.scaleFirst() * mean[i];
                    double metric = Math.sqrt(numbers.scaleSecond() * squares[i] + numbers.innerEpsilon())
                            + numbers.outerEpsilon();
                    printed[i].see(gradient, step);
                    worstDirection = Math.max(worstDirection, difference(direction, printed[i].direction(step)));
                    worstMetric = Math.max(worstMetric, difference(metric, printed[i].metric(step)));
                    x[i] -= RATE * printed[i].direction(step) / printed[i].metric(step);
                    if (i == 0 && (step == 1 || step == STEPS)) {
                        int at = step == 1 ? 0 : 2;
                        ours[at] = direction;
                        ours[at + 1] = metric;
                        paper[at] = printed[i].direction(step);
                        paper[at + 1] = printed[i].metric(step);
                    }
                }
                optimizer.step(Map.of(NAME, weights), Map.of(NAME, gradients));
            }
            double largest = Arrays.stream(x).map(Math::abs).max().orElseThrow();
            double worstWeight = 0;
            for (int i = 0; i < SIZE; i++) {
                worstWeight = Math.max(worstWeight, Math.abs(weights.get(i) - x[i]) / largest);
            }
            return Row.of(
                    name,
                    cell(paper, ours, 0),
                    cell(paper, ours, 1),
                    cell(paper, ours, 2),
                    cell(paper, ours, 3),
                    Cell.ours(worstDirection),
                    Cell.ours(worstMetric),
                    Cell.ours(worstWeight));
        }
    }

    private static Cell cell(double[] paper, double[] ours, int which) {
        return new Cell(Quote.number(paper[which]), Quote.number(ours[which]));
    }

    private static double difference(double ours, double paper) {
        return Math.abs(ours - paper) / Math.max(Math.abs(paper), Double.MIN_NORMAL);
    }

    private static TensorView tensor(Arena arena) {
        return TensorView.of(arena.allocate((long) SIZE * Float.BYTES, 64), ElementType.FLOAT32, SIZE);
    }
}
