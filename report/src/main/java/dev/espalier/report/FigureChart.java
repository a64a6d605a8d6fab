package dev.espalier.report;

import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** From figures to charts. */
final class FigureChart {
    private FigureChart() {}

    /** The chart that draws it. */
    static Chart of(Figure figure, String id) {
        return switch (figure) {
            case Figure.Plot plot ->
                new Chart.Plot(
                        id,
                        plot.title(),
                        describe(plot),
                        plot.horizontal(),
                        plot.vertical(),
                        IntStream.range(0, plot.curves().size())
                                .mapToObj(i -> line(plot, i))
                                .toList());
            case Figure.Sizes sizes ->
                new Chart.Bars(
                        id,
                        sizes.title(),
                        "%s, before and after: from %s to %s"
                                .formatted(sizes.title(), total(sizes.before()), total(sizes.after())),
                        sizes.parts(),
                        sizes.before(),
                        sizes.after());
            // A page has its numbers only; the file has the matrices.
            case Figure.Cells cells ->
                new Chart.Bars(
                        id,
                        cells.title(),
                        describe(cells),
                        cells.grids().stream().map(Figure.Grid::name).toList(),
                        cells.grids().stream().map(FigureChart::size).toList(),
                        cells.grids().stream()
                                .map(grid -> grid.count(Figure.State.KEPT))
                                .toList());
        };
    }

    private static long size(Figure.Grid grid) {
        return grid.rows().stream().mapToLong(List::size).sum();
    }

    /** The same in words. */
    static String describe(Figure.Cells cells) {
        return cells.grids().stream()
                .map(grid -> "%s: of %d cells %d are left, %d were set to zero, %d went with them"
                        .formatted(
                                grid.name(),
                                size(grid),
                                grid.count(Figure.State.KEPT),
                                grid.count(Figure.State.ZERO),
                                grid.count(Figure.State.INDIRECT)))
                .collect(Collectors.joining("; "));
    }

    private static String total(List<Long> sizes) {
        return Numbers.count(sizes.stream().mapToLong(Long::longValue).sum());
    }

    private static Chart.Line line(Figure.Plot plot, int index) {
        Figure.Curve curve = plot.curves().get(index);
        long own = plot.curves().subList(0, index + 1).stream()
                .filter(one -> !plot.paired() || one.stroke() == Figure.Stroke.SOLID)
                .count();
        return new Chart.Line(
                curve.name(),
                Curves.colour((int) Math.max(0, own - 1)),
                switch (curve.stroke()) {
                    case SOLID -> Chart.Stroke.SOLID;
                    case DASHED -> Chart.Stroke.DASHED;
                },
                curve.points().stream()
                        .filter(point -> !plot.horizontal().logarithmic() || point.x() > 0)
                        .map(point -> List.of(
                                point.x(), plot.vertical().logarithmic() && point.y() <= 0 ? Double.NaN : point.y()))
                        .toList());
    }

    private static String describe(Figure.Plot plot) {
        return "%s over %s: %s"
                .formatted(
                        plot.vertical().name(),
                        plot.horizontal().name(),
                        plot.curves().stream()
                                .filter(curve -> !curve.points().isEmpty())
                                .map(curve -> String.format(
                                        Locale.ROOT,
                                        "%s from %s to %s",
                                        curve.name(),
                                        Numbers.compact(
                                                curve.points().getFirst().y()),
                                        Numbers.compact(curve.points().getLast().y())))
                                .collect(Collectors.joining("; ")));
    }
}
