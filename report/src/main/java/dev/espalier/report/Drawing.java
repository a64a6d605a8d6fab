package dev.espalier.report;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.DoubleUnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;

/**
 * Figures as SVG files, for pages that run no script. What is drawn is the same {@link Chart} that reports draw, in the colours of their
 * style sheet, light or dark as the reader has it.
 */
public final class Drawing {
    private static final int WIDTH = 720;
    private static final int HEIGHT = 340;
    private static final int LEFT = 64;
    private static final int RIGHT = 24;
    private static final int BOTTOM = 46;
    private static final int LINE = 18;

    /** Up to so many points of a line are marked. */
    private static final int MARKED = 12;

    /** What a letter takes, about: nobody here knows the reader's font. */
    private static final double LETTER = 6.6;

    private static final Pattern ROOT = Pattern.compile(":root\\s*\\{([^}]*)}");

    private final StringBuilder body = new StringBuilder();

    private Drawing() {}

    /**
     * Draws a figure.
     *
     * @param figure the figure
     * @return an SVG file
     */
    public static String svg(Figure figure) {
        Drawing drawing = new Drawing();
        if (figure instanceof Figure.Cells cells) {
            return drawing.file(FigureChart.of(figure, "figure"), drawing.cells(cells));
        }
        return switch (FigureChart.of(figure, "figure")) {
            case Chart.Plot plot -> drawing.file(plot, drawing.plot(plot));
            case Chart.Bars bars -> drawing.file(bars, drawing.bars(bars));
            case Chart.Lines _,
                    Chart.Points _,
                    Chart.HeatMap _,
                    Chart.Scatter _,
                    Chart.Histogram _,
                    Chart.TradeOff _,
                    Chart.Parallel _ -> throw new IllegalStateException("no figure is drawn so");
        };
    }

    private String file(Chart chart, int height) {
        return Html.of(
                        """
                        <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {} {}" role="img">
                        <title>{}</title>
                        <desc>{}</desc>
                        <style>
                        {}
                        text { font: 12px system-ui, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; fill: var(--muted) }
                        .grid { stroke: var(--grid) }
                        .line { fill: none; stroke-width: 2; stroke-linejoin: round }
                        </style>
                        <rect width="{}" height="{}" rx="6" fill="var(--surface)"/>
                        {}</svg>
                        """,
                        WIDTH,
                        height,
                        chart.title(),
                        chart.description(),
                        new Html(colours()),
                        WIDTH,
                        height,
                        new Html(body.toString()))
                .markup();
    }

    /** The variables of the style sheet that drawings use: by day, then by night. */
    private static String colours() {
        Matcher roots = ROOT.matcher(ReportAssets.style());
        List<String> found = new ArrayList<>();
        while (roots.find() && found.size() < 2) {
            found.add(roots.group(1)
                    .lines()
                    .map(String::strip)
                    .filter(line -> line.matches("--(surface|muted|grid|before|series-\\d+):.*"))
                    .collect(Collectors.joining(" ")));
        }
        return ":root { %s }\n@media (prefers-color-scheme: dark) { :root { %s } }"
                .formatted(found.getFirst(), found.getLast());
    }

    // --- Lines

    /**
     * An axis: where its numbers are, and which of them are written.
     *
     * @param place from a number to a coordinate
     * @param ticks the numbers that are written
     * @param share whether they are percentages
     */
    private record Scale(DoubleUnaryOperator place, List<Double> ticks, boolean share) {
        static Scale of(Figure.Axis axis, DoubleStream numbers, boolean round, double from, double to) {
            double[] finite = numbers.filter(Double::isFinite).toArray();
            double low = DoubleStream.of(finite).min().orElse(axis.logarithmic() ? 1 : 0);
            double high = DoubleStream.of(finite).max().orElse(low + 1);
            if (axis.logarithmic()) {
                double first = round ? Math.floor(Math.log10(low) + 1e-9) : Math.log10(low);
                double last = Math.max(first + 1e-9, round ? Math.ceil(Math.log10(high) - 1e-9) : Math.log10(high));
                return new Scale(
                        number -> from + (to - from) * (Math.log10(number) - first) / (last - first),
                        IntStream.rangeClosed((int) Math.ceil(first - 1e-9), (int) Math.floor(last + 1e-9))
                                .mapToObj(power -> Math.pow(10, power))
                                .toList(),
                        axis.share());
            }
            double step = step(high > low ? high - low : 1);
            double first = round ? Math.floor(low / step + 1e-9) * step : low;
            double last = round ? Math.ceil(high / step - 1e-9) * step : high;
            double end = last > first ? last : first + step;
            return new Scale(
                    number -> from + (to - from) * (number - first) / (end - first),
                    IntStream.rangeClosed((int) Math.ceil(first / step - 1e-9), (int) Math.floor(end / step + 1e-9))
                            .mapToObj(i -> i * step)
                            .toList(),
                    axis.share());
        }

        /** One, two or five times a power of ten: four to ten of them. */
        private static double step(double length) {
            double power = Math.pow(10, Math.floor(Math.log10(length / 4)));
            double digit = length / 4 / power;
            return power * (digit >= 5 ? 5 : digit >= 2 ? 2 : 1);
        }

        String write(double tick) {
            return share ? Numbers.compact(100 * tick) + " %" : Numbers.compact(tick);
        }
    }

    private int plot(Chart.Plot plot) {
        int top = legend(plot.lines()) + 30;
        int bottom = top + HEIGHT - BOTTOM - 60;
        Scale x = Scale.of(plot.horizontal(), coordinates(plot, 0), false, LEFT, WIDTH - RIGHT);
        Scale y = Scale.of(plot.vertical(), coordinates(plot, 1), true, bottom, top);
        for (double tick : y.ticks()) {
            double at = y.place().applyAsDouble(tick);
            add("<line class=\"grid\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/>", LEFT, WIDTH - RIGHT, at, at);
            text(LEFT - 8, at + 4, "end", y.write(tick));
        }
        for (double tick : x.ticks()) {
            text(x.place().applyAsDouble(tick), bottom + 18, "middle", x.write(tick));
        }
        text(LEFT, top - 12, "start", plot.vertical().name());
        text(
                (LEFT + WIDTH - RIGHT) / 2.0,
                bottom + 36,
                "middle",
                plot.horizontal().name());
        plot.lines().forEach(line -> line(line, x.place(), y.place()));
        return bottom + BOTTOM;
    }

    private static DoubleStream coordinates(Chart.Plot plot, int which) {
        return plot.lines().stream().flatMap(line -> line.points().stream()).mapToDouble(point -> point.get(which));
    }

    /** Names of lines over the plot; returns where they end. */
    private int legend(List<Chart.Line> lines) {
        double at = 16;
        int row = 24;
        for (Chart.Line line : lines) {
            double width = 26 + LETTER * line.name().length() + 18;
            if (at > 16 && at + width > WIDTH - RIGHT) {
                at = 16;
                row += LINE;
            }
            add(
                    "<line class=\"line\" stroke=\"var(--series-%d)\"%s x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\"/>",
                    line.colour(), dashes(line), at, at + 18, row - 4, row - 4);
            text(at + 26, row, "start", line.name());
            at += width;
        }
        return row;
    }

    private static String dashes(Chart.Line line) {
        return switch (line.stroke()) {
            case SOLID -> "";
            case FAINT -> " opacity=\"0.4\"";
            case DASHED -> " stroke-dasharray=\"5 4\"";
        };
    }

    private void line(Chart.Line line, DoubleUnaryOperator x, DoubleUnaryOperator y) {
        StringBuilder path = new StringBuilder();
        boolean gap = true;
        for (List<Double> point : line.points()) {
            if (Double.isFinite(point.get(1))) {
                path.append(String.format(
                        Locale.ROOT,
                        "%s%.1f %.1f",
                        gap ? "M" : "L",
                        x.applyAsDouble(point.get(0)),
                        y.applyAsDouble(point.get(1))));
            }
            gap = !Double.isFinite(point.get(1));
        }
        if (!path.isEmpty()) {
            add("<path class=\"line\" stroke=\"var(--series-%d)\"%s d=\"%s\"/>", line.colour(), dashes(line), path);
        }
        if (line.points().size() <= MARKED) {
            for (List<Double> point : line.points()) {
                if (Double.isFinite(point.get(1))) {
                    add(
                            "<circle r=\"3.5\" fill=\"var(--series-%d)\" cx=\"%.1f\" cy=\"%.1f\"/>",
                            line.colour(), x.applyAsDouble(point.get(0)), y.applyAsDouble(point.get(1)));
                }
            }
        }
    }

    // --- Bars

    private int bars(Chart.Bars bars) {
        List<String> sizes = IntStream.range(0, bars.rows().size())
                .mapToObj(i -> Numbers.large(bars.before().get(i)) + " → "
                        + Numbers.large(bars.after().get(i)))
                .toList();
        double left = 24 + widest(bars.rows());
        double right = Math.max(left + 60, WIDTH - 24 - widest(sizes));
        double largest = bars.before().stream().mapToLong(Long::longValue).max().orElse(1);
        double unit = (right - left) / Math.log10(Math.max(10, largest));
        for (int i = 0; i < bars.rows().size(); i++) {
            int at = 12 + LINE * i;
            text(left - 8, at + 10, "end", bars.rows().get(i));
            bar(left, at, unit, bars.before().get(i), "before");
            bar(left, at, unit, bars.after().get(i), "series-0");
            text(WIDTH - 12, at + 10, "end", sizes.get(i));
        }
        return 20 + LINE * bars.rows().size();
    }

    private static double widest(List<String> texts) {
        return LETTER * texts.stream().mapToInt(String::length).max().orElse(0);
    }

    private void bar(double left, int at, double unit, long size, String colour) {
        if (size > 0) {
            add(
                    "<rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"11\" rx=\"2\" fill=\"var(--%s)\"/>",
                    left, at, Math.max(1, unit * Math.log10((double) size)), colour);
        }
    }

    // --- Cells

    /** Squares, a column for each input and a row for each output; returns the height. */
    private int cells(Figure.Cells figure) {
        int at = 16;
        for (Figure.State state : Figure.State.values()) {
            String name = switch (state) {
                case KEPT -> "left";
                case ZERO -> "zero by the penalty";
                case INDIRECT -> "pruned indirectly";
            };
            cell(at, 14, 10, state);
            text(at + 16, 23, "start", name);
            at += (int) (16 + LETTER * name.length() + 20);
        }
        int columns = figure.grids().stream()
                .mapToInt(grid -> grid.rows().getFirst().size())
                .sum();
        int gaps = 24 * (figure.grids().size() + 1);
        int side = Math.clamp((WIDTH - gaps) / columns, 3, 16);
        int left = 24;
        int height = 0;
        for (Figure.Grid grid : figure.grids()) {
            text(left, 52, "start", grid.name());
            for (int row = 0; row < grid.rows().size(); row++) {
                for (int column = 0; column < grid.rows().get(row).size(); column++) {
                    cell(
                            left + side * column,
                            62 + side * row,
                            side - 1,
                            grid.rows().get(row).get(column));
                }
            }
            left += side * grid.rows().getFirst().size() + 24;
            height = Math.max(height, side * grid.rows().size());
        }
        return 62 + height + 16;
    }

    private void cell(int x, int y, int side, Figure.State state) {
        String fill = switch (state) {
            case KEPT -> "fill=\"var(--before)\"";
            case ZERO -> "fill=\"var(--series-0)\"";
            case INDIRECT -> "fill=\"var(--series-0)\" opacity=\"0.45\"";
        };
        add("<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" %s/>", x, y, side, side, fill);
    }

    // --- Both

    private void text(double x, double y, String anchor, String text) {
        add(
                "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>",
                x, y, anchor, Html.text(text).markup());
    }

    @SuppressWarnings("AnnotateFormatMethod") // the annotation would be one more library
    private void add(String element, Object... values) {
        body.append(String.format(Locale.ROOT, element, values)).append('\n');
    }
}
