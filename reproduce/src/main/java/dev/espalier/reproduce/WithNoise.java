package dev.espalier.reproduce;

import dev.espalier.report.Figure;
import dev.espalier.report.Figure.Axis;
import dev.espalier.report.Figure.Curve;
import dev.espalier.report.Figure.Point;
import dev.espalier.report.Unit;
import dev.espalier.reproduce.Comparison.Cell;
import dev.espalier.reproduce.Comparison.Column;
import dev.espalier.reproduce.Comparison.Row;
import dev.espalier.reproduce.Convergence.Case;
import dev.espalier.reproduce.Convergence.Effort;
import dev.espalier.reproduce.Convergence.Part;
import dev.espalier.reproduce.convergence.Descent;
import dev.espalier.reproduce.convergence.Slope;
import dev.espalier.reproduce.convergence.Trace;
import dev.espalier.train.journal.Spread;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.stream.IntStream;

/** Theorem 3 with gradients from mini-batches: a floor that is proportional to 1/m. Each seed is a problem of its own. */
final class WithNoise {
    static final String EXPONENT = "exponent of m";

    private static final int[] BATCH_SIZES = {64, 256, 1024, 4096, 16_384, 65_536};

    /**
     * From here on the exponent is taken. Below, the noise in a zero group is longer than what its threshold leaves: groups jump
     * off zero, and how far that is from stationary does not depend on the noise. A group that is close to its threshold still
     * jumps here, so the exponent may be steeper than −1.
     */
    static final int CALM = 1024;

    private WithNoise() {}

    /** What batches of one size lead to. */
    private record Level(int batchSize, Trace trace, double byBound) {}

    /** A problem, with all batch sizes. */
    private record Levels(Case problem, List<Level> levels) {
        double exponent() {
            List<Level> calm =
                    levels.stream().filter(level -> level.batchSize() >= CALM).toList();
            return Slope.of(
                    calm.stream().map(level -> Math.log(level.batchSize())).toList(),
                    calm.stream().map(level -> Math.log(level.trace().floor())).toList());
        }

        double byBound() {
            return levels.stream().mapToDouble(Level::byBound).max().orElseThrow();
        }
    }

    static Part part(Effort effort, Setting setting) {
        List<List<Levels>> bySeed = setting.seeds().stream()
                .map(seed -> Convergence.cases(effort.size(), seed).stream()
                        .map(one -> levels(one, effort.noisySteps(), seed))
                        .toList())
                .toList();
        List<Levels> first = bySeed.getFirst();
        List<Row> rows = IntStream.range(0, first.size())
                .mapToObj(i -> row(bySeed.stream().map(all -> all.get(i)).toList()))
                .toList();
        List<Column> columns = new ArrayList<>();
        for (int batchSize : BATCH_SIZES) {
            columns.add(new Column("m = " + batchSize, Unit.NUMBER));
        }
        columns.add(new Column(EXPONENT, Unit.NUMBER));
        columns.add(new Column(WithoutNoise.BY_BOUND, Unit.NUMBER));
        Comparison table = new Comparison(
                "With noise",
                ("SGD, gradients from m samples drawn with replacement. The mean of dist(0, ∂F)² in the second half of T = %d"
                                + " steps. The exponent is that from m = %d on: below, the noise throws groups off zero. Measured /"
                                + " bound is the largest over all T and m. Every seed is another problem.")
                        .formatted(effort.noisySteps(), CALM),
                "problem",
                columns,
                rows);
        List<Figure> figures = new ArrayList<>(List.of(floors(first)));
        first.forEach(levels -> figures.add(paths(levels)));
        return new Part(table, figures);
    }

    private static Levels levels(Case one, int steps, long seed) {
        List<Level> levels = new ArrayList<>();
        for (int batchSize : BATCH_SIZES) {
            Descent descent = Convergence.PLAIN.withBatchSize(batchSize);
            Trace trace = descent.run(one.problem(), one.penalty(), steps, seed);
            levels.add(new Level(
                    batchSize,
                    trace,
                    Convergence.shareOfBound(trace, descent.theorem(one.problem(), trace), one.gap())));
        }
        return new Levels(one, levels);
    }

    private static Row row(List<Levels> problems) {
        List<Cell> cells = new ArrayList<>();
        for (int i = 0; i < BATCH_SIZES.length; i++) {
            int index = i;
            cells.add(Cell.ours(spread(
                    problems, levels -> levels.levels().get(index).trace().floor())));
        }
        cells.add(new Cell(Quote.number(-1), spread(problems, Levels::exponent)));
        cells.add(Cell.ours(problems.stream().mapToDouble(Levels::byBound).max().orElseThrow()));
        return new Row(problems.getFirst().problem().name(), cells);
    }

    private static Spread spread(List<Levels> problems, Function<Levels, Double> value) {
        return Spread.of(problems.stream().map(value).toList());
    }

    private static Figure floors(List<Levels> problems) {
        return new Figure.Plot(
                "With noise: where the distance levels off",
                "A floor that is proportional to 1/m falls by a factor of 4 from point to point.",
                Axis.logarithmic("mini-batch size m"),
                Axis.logarithmic("dist(0, ∂F)² in the second half"),
                problems.stream()
                        .map(levels -> new Curve(
                                levels.problem().name(),
                                levels.levels().stream()
                                        .map(level -> new Point(
                                                level.batchSize(), level.trace().floor()))
                                        .toList()))
                        .toList());
    }

    private static Figure paths(Levels levels) {
        return new Figure.Plot(
                "With noise: " + levels.problem().name(),
                "",
                Axis.logarithmic("T"),
                Axis.logarithmic("mean of dist(0, ∂F)²"),
                levels.levels().stream()
                        .map(level -> Convergence.means("m = " + level.batchSize(), level.trace()))
                        .toList());
    }
}
