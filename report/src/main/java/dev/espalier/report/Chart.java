package dev.espalier.report;

import com.fasterxml.jackson.annotation.JsonTypeInfo;
import java.util.List;

/** A chart, as {@code report.js} draws it: what it shows, but not how. */
@JsonTypeInfo(use = JsonTypeInfo.Id.SIMPLE_NAME, property = "kind")
sealed interface Chart {
    /** What the chart is known by in the page. */
    String id();

    /** What it shows. */
    String title();

    /** What it shows, for those who do not see it. */
    String description();

    /** How numbers are written. */
    enum Format {
        /** A share of one, as a percentage. */
        PERCENT,
        /** Some significant digits. */
        NUMBER,
        /** A whole number. */
        COUNT
    }

    /** How a line is drawn. */
    enum Stroke {
        /** As what counts. */
        SOLID,
        /** As one of several seeds. */
        FAINT,
        /** As what is compared with. */
        DASHED
    }

    /**
     * A stretch of the horizontal axis.
     *
     * @param name what it is
     * @param from where it begins
     * @param to where it ends
     */
    record Band(String name, double from, double to) {}

    /**
     * A line.
     *
     * @param name what it is called; lines of one name are shown and hidden together
     * @param colour number of its colour, from 0
     * @param stroke how it is drawn
     * @param points abscissa, ordinate and, if there are several seeds, standard deviation
     */
    record Line(String name, int colour, Stroke stroke, List<List<Double>> points) {}

    /**
     * Lines over epochs.
     *
     * @param id what the chart is known by
     * @param title what it shows
     * @param description the same in words
     * @param format how ordinates are written
     * @param logarithmic whether the vertical axis is
     * @param stepped whether values hold from point to point instead of changing on the way
     * @param bands the phases
     * @param lines the lines
     */
    record Lines(
            String id,
            String title,
            String description,
            Format format,
            boolean logarithmic,
            boolean stepped,
            List<Band> bands,
            List<Line> lines)
            implements Chart {}

    /**
     * A point with a name.
     *
     * @param name what is written beside it
     * @param colour number of its colour, from 0
     * @param x share of parameters that are left
     * @param y score
     * @param deviation standard deviation of the score; NaN for a single seed
     * @param details what else there is to know
     */
    record Point(String name, int colour, double x, double y, double deviation, String details) {}

    /**
     * Score against size.
     *
     * @param id what the chart is known by
     * @param title what it shows
     * @param description the same in words
     * @param score the name of the score
     * @param format how scores are written
     * @param joined whether the points are a curve
     * @param points the points
     * @param baseline the score to compare with; NaN if there is none
     */
    record Points(
            String id,
            String title,
            String description,
            String score,
            Format format,
            boolean joined,
            List<Point> points,
            double baseline)
            implements Chart {}

    /**
     * Shares by layer and epoch.
     *
     * @param id what the chart is known by
     * @param title what it shows
     * @param description the same in words
     * @param columns the epochs
     * @param rows the layers, from front to back
     * @param cells shares, row by row
     * @param notes what a share is of, row by row
     */
    record HeatMap(
            String id,
            String title,
            String description,
            List<Double> columns,
            List<String> rows,
            List<List<Double>> cells,
            List<Integer> notes)
            implements Chart {}

    /**
     * Weights of layers, before and after.
     *
     * @param id what the chart is known by
     * @param title what it shows
     * @param description the same in words
     * @param rows the layers, from front to back
     * @param before number of weights
     * @param after number of those that are left
     */
    record Bars(String id, String title, String description, List<String> rows, List<Long> before, List<Long> after)
            implements Chart {}

    /**
     * Lines over any axis.
     *
     * @param id what the chart is known by
     * @param title what it shows
     * @param description the same in words
     * @param horizontal the horizontal axis
     * @param vertical the vertical axis
     * @param lines the lines
     */
    record Plot(
            String id, String title, String description, Figure.Axis horizontal, Figure.Axis vertical, List<Line> lines)
            implements Chart {}

    /**
     * Estimates against truths, and the line on which they are equal.
     *
     * @param id what the chart is known by
     * @param title what it shows
     * @param description the same in words
     * @param quantity what is estimated
     * @param points truths and estimates
     */
    record Scatter(String id, String title, String description, String quantity, List<List<Double>> points)
            implements Chart {}

    /**
     * How often values lie where; the first and the last count also hold what lies beyond.
     *
     * @param id what the chart is known by
     * @param title what it shows
     * @param description the same in words
     * @param from where the first stretch begins
     * @param width how long each is
     * @param counts how many values lie in each
     */
    record Histogram(
            String id, String title, String description, String axis, double from, double width, List<Long> counts)
            implements Chart {}

    /** Which values are better. */
    enum Better {
        /** Higher ones. */
        HIGHER,
        /** Lower ones. */
        LOWER,
        /** It is chosen, not measured. */
        NEITHER
    }

    /** How values are laid out along an axis. */
    enum Scale {
        /** The same distance for the same difference. */
        LINEAR,
        /** The same distance for the same ratio. */
        LOGARITHMIC,
        /** One after the other. */
        WORDS
    }

    /**
     * What a point of a study has a value of.
     *
     * @param name what it is called
     * @param format how values are written
     * @param unit what is written behind them
     * @param scale how they are laid out
     * @param words the values that are words; a point has the number of one of them
     * @param better which are better
     */
    record Dimension(String name, Format format, String unit, Scale scale, List<String> words, Better better) {}

    /**
     * A point of a study.
     *
     * @param row its number in the table
     * @param name what it has otherwise than others
     * @param values one for each dimension; NaN for what is not known
     * @param deviation standard deviation of its score; NaN for a single seed
     * @param goodness how good its score is among the others, from 0 to 1
     * @param front for each choice of a cost, whether no other point beats it
     */
    record Strand(int row, String name, List<Double> values, double deviation, double goodness, List<Boolean> front) {}

    /**
     * What is good against what it costs. The reader chooses the cost.
     *
     * @param id what the chart is known by
     * @param title what it shows
     * @param description the same in words
     * @param score what is good
     * @param costs what can be chosen
     * @param points the points: their values are the score and then the costs
     */
    record TradeOff(
            String id, String title, String description, Dimension score, List<Dimension> costs, List<Strand> points)
            implements Chart {
        @Override
        public Html toHtml() {
            List<Html> options = costs.stream()
                    .map(cost -> Html.of("<option>{}</option>", cost.name()))
                    .toList();
            return Html.of(
                    "<figure class=\"chart\" data-chart=\"{}\"><figcaption>{} against <select aria-label=\"What it costs\">{}</select>"
                            + "</figcaption><div class=\"plot\" role=\"img\" aria-label=\"{}\"></div></figure>",
                    id,
                    title,
                    Html.join(options),
                    description);
        }
    }

    /**
     * A line for each point of a study, through its value on each of several axes that stand beside each other.
     *
     * @param id what the chart is known by
     * @param title what it shows
     * @param description the same in words
     * @param dimensions the axes
     * @param strands the lines
     */
    record Parallel(String id, String title, String description, List<Dimension> dimensions, List<Strand> strands)
            implements Chart {}

    /** The place in the page where the chart is drawn. */
    default Html toHtml() {
        return Html.of(
                "<figure class=\"chart\" data-chart=\"{}\"><figcaption>{}</figcaption>"
                        + "<div class=\"plot\" role=\"img\" aria-label=\"{}\"></div></figure>",
                id(),
                title(),
                description());
    }
}
