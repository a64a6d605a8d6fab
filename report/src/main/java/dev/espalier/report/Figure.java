package dev.espalier.report;

import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import java.util.List;

/** Something drawn, as an {@link Article} shows it and as JSON keeps it. */
@JsonTypeInfo(use = JsonTypeInfo.Id.SIMPLE_NAME, property = "kind")
@JsonSubTypes({
    @JsonSubTypes.Type(Figure.Plot.class),
    @JsonSubTypes.Type(Figure.Sizes.class),
    @JsonSubTypes.Type(Figure.Cells.class)
})
public sealed interface Figure {

    /**
     * What is drawn.
     *
     * @return a few words
     */
    String title();

    /**
     * What a reader should see in it.
     *
     * @return a sentence or two; may be empty
     */
    String caption();

    /**
     * An axis.
     *
     * @param name what it measures
     * @param logarithmic whether it is logarithmic; then only numbers above zero are drawn
     * @param share whether its numbers are shares of one, written as percentages
     */
    record Axis(String name, boolean logarithmic, boolean share) {
        /**
         * A linear axis.
         *
         * @param name what it measures
         * @return the axis
         */
        public static Axis linear(String name) {
            return new Axis(name, false, false);
        }

        /**
         * A logarithmic axis.
         *
         * @param name what it measures
         * @return the axis
         */
        public static Axis logarithmic(String name) {
            return new Axis(name, true, false);
        }

        /**
         * A linear axis of percentages.
         *
         * @param name what it measures
         * @return the axis
         */
        public static Axis share(String name) {
            return new Axis(name, false, true);
        }
    }

    /** What a curve is. */
    enum Stroke {
        /** What was measured. */
        SOLID,
        /** What it is compared with: a bound, the paper's. */
        DASHED
    }

    /**
     * A point.
     *
     * @param x abscissa
     * @param y ordinate; NaN for a gap
     */
    record Point(double x, double y) {}

    /**
     * A curve.
     *
     * @param name what it is called
     * @param stroke what it is
     * @param points from left to right
     */
    record Curve(String name, Stroke stroke, List<Point> points) {
        /** Copies the points. */
        public Curve {
            points = List.copyOf(points);
        }

        /**
         * A measured curve.
         *
         * @param name what it is called
         * @param points from left to right
         */
        public Curve(String name, List<Point> points) {
            this(name, Stroke.SOLID, points);
        }
    }

    /**
     * Curves over one axis.
     *
     * @param title what is drawn
     * @param caption what a reader should see in it; may be empty
     * @param horizontal the horizontal axis
     * @param vertical the vertical axis
     * @param curves the curves; a dashed one has the colour of the solid one before it if {@code paired}
     * @param paired whether each dashed curve belongs to the solid one before it
     */
    record Plot(String title, String caption, Axis horizontal, Axis vertical, List<Curve> curves, boolean paired)
            implements Figure {
        /** Copies the curves. */
        public Plot {
            curves = List.copyOf(curves);
        }

        /**
         * Curves that each have a colour of their own.
         *
         * @param title what is drawn
         * @param caption what a reader should see in it; may be empty
         * @param horizontal the horizontal axis
         * @param vertical the vertical axis
         * @param curves the curves
         */
        public Plot(String title, String caption, Axis horizontal, Axis vertical, List<Curve> curves) {
            this(title, caption, horizontal, vertical, curves, false);
        }
    }

    /**
     * Sizes of parts, before and after.
     *
     * @param title what is drawn
     * @param caption what a reader should see in it; may be empty
     * @param parts names, from front to back
     * @param before sizes before
     * @param after sizes after
     */
    record Sizes(String title, String caption, List<String> parts, List<Long> before, List<Long> after)
            implements Figure {
        /** Copies the lists, and checks that they fit. */
        public Sizes {
            parts = List.copyOf(parts);
            before = List.copyOf(before);
            after = List.copyOf(after);
            if (before.size() != parts.size() || after.size() != parts.size()) {
                throw new IllegalArgumentException("%d parts, %d sizes before, %d after: there must be one of each"
                        .formatted(parts.size(), before.size(), after.size()));
            }
        }
    }

    /** What became of a cell of a {@link Grid}. */
    enum State {
        /** It is left. */
        KEPT,
        /** It was set to zero itself. */
        ZERO,
        /** It went because of others. */
        INDIRECT
    }

    /**
     * A matrix of cells.
     *
     * @param name what it is
     * @param rows its rows from top to bottom, each with as many cells
     */
    record Grid(String name, List<List<State>> rows) {
        /** Copies the rows, and checks that they are equally long. */
        public Grid {
            rows = rows.stream().map(List::copyOf).toList();
            if (rows.stream().map(List::size).distinct().count() != 1) {
                throw new IllegalArgumentException("the rows of " + name + " must be there and equally long");
            }
        }

        /**
         * Counts cells.
         *
         * @param state what became of them
         * @return how many
         */
        public long count(State state) {
            return rows.stream()
                    .flatMap(List::stream)
                    .filter(cell -> cell == state)
                    .count();
        }
    }

    /**
     * What became of the cells of some matrices, such as the filters of layers.
     *
     * @param title what is drawn
     * @param caption what a reader should see in it; may be empty
     * @param grids the matrices, from front to back
     */
    record Cells(String title, String caption, List<Grid> grids) implements Figure {
        /** Copies the list. */
        public Cells {
            grids = List.copyOf(grids);
        }
    }
}
