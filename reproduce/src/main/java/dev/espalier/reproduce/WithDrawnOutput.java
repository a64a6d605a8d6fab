package dev.espalier.reproduce;

import dev.espalier.core.step.Parameter;
import dev.espalier.core.step.UniformIterate;
import dev.espalier.core.tensor.TensorView;
import dev.espalier.report.Unit;
import dev.espalier.reproduce.Comparison.Cell;
import dev.espalier.reproduce.Comparison.Column;
import dev.espalier.reproduce.Comparison.Row;
import dev.espalier.reproduce.Convergence.Case;
import dev.espalier.reproduce.Convergence.Effort;
import dev.espalier.reproduce.Convergence.Part;
import dev.espalier.reproduce.convergence.Descent;
import dev.espalier.reproduce.convergence.Problem;
import dev.espalier.reproduce.convergence.Trace;
import dev.espalier.train.journal.Spread;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;

/**
 * The output {@code x_R} of Algorithm 2, R uniform in {@code 1 … T}, which Theorem 3 is about, next to the last iterate
 * {@code x_T}. R is drawn by {@link UniformIterate}, as in a training.
 */
final class WithDrawnOutput {
    static final String LAST = "dist² of x_T";
    static final String DRAWN = "mean dist² of x_R";
    static final String EXPECTED = "expected";
    static final String ERROR = "standard error";
    static final String BOUND = "bound";

    /** How often R is drawn for the mean over R. */
    private static final int DRAWS = 400;

    private static final int BATCH_SIZE = 1024;
    private static final String NAME = "x";

    private WithDrawnOutput() {}

    private static Map<String, Descent> methods() {
        Map<String, Descent> methods = new LinkedHashMap<>();
        methods.put("SGD", Convergence.PLAIN);
        methods.put("SGD, m = " + BATCH_SIZE, Convergence.PLAIN.withBatchSize(BATCH_SIZE));
        methods.put("RMSprop", Convergence.ADAPTIVE);
        return methods;
    }

    static Part part(Effort effort, Setting setting) {
        int steps = effort.noisySteps();
        List<Row> rows = new ArrayList<>();
        for (Case one : Convergence.cases(effort.size(), Convergence.FIRST)) {
            methods().forEach((name, descent) -> rows.add(row(one.name() + ", " + name, one, descent, steps)));
        }
        Comparison table = new Comparison(
                "The output of Algorithm 2",
                ("x_R with R uniform in 1 … T, T = %d, drawn %d times; x_T is the last iterate. The expectation is the mean of dist(0, ∂F(x_t))²"
                                + " over all t, the standard error that of so many draws, and the bound is Theorem 3's.")
                        .formatted(steps, DRAWS),
                "problem, method",
                List.of(
                        new Column(LAST, Unit.NUMBER),
                        new Column(DRAWN, Unit.NUMBER),
                        new Column(ERROR, Unit.NUMBER),
                        new Column(EXPECTED, Unit.NUMBER),
                        new Column(BOUND, Unit.NUMBER)),
                rows);
        return new Part(table, List.of());
    }

    private static Row row(String name, Case one, Descent descent, int steps) {
        Problem problem = one.problem();
        List<UniformIterate> samplers = LongStream.rangeClosed(1, DRAWS)
                .mapToObj(seed -> new UniformIterate(List.of(new Parameter(NAME, problem.dimension())), seed))
                .toList();
        Trace trace = descent.run(problem, one.penalty(), steps, Convergence.FIRST, x -> {
            Map<String, TensorView> weights = Map.of(NAME, TensorView.of(x, x.length));
            samplers.forEach(sampler -> sampler.offer(weights));
        });
        double noise =
                trace.steps().stream().mapToDouble(Trace.Step::squaredNoise).sum();
        double drawn = samplers.stream()
                .mapToDouble(sampler -> squaredDistance(one, sampler))
                .average()
                .orElseThrow();
        double deviation = Spread.of(trace.steps(), Trace.Step::squaredDistance).deviation();
        return Row.of(
                name,
                Cell.ours(trace.steps().getLast().squaredDistance()),
                Cell.ours(drawn),
                Cell.ours(deviation / Math.sqrt(DRAWS)),
                Cell.ours(trace.mean(steps)),
                Cell.ours(descent.theorem(problem, trace).bound(steps, noise, one.gap())));
    }

    /** Of the weights that a sampler has kept, which are in single precision. */
    private static double squaredDistance(Case one, UniformIterate sampler) {
        double[] x = new double[one.problem().dimension()];
        sampler.restore(Map.of(NAME, TensorView.of(x, x.length)));
        return one.problem().squaredDistance(one.penalty(), x, one.problem().gradient(x));
    }
}
