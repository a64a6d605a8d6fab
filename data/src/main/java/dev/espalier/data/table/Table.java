package dev.espalier.data.table;

import dev.espalier.core.check.Check;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Rows of numbers and texts in memory: what every kind of table is read into. A text is kept once, however often it occurs. */
public final class Table {
    private final String name;
    private final List<Head> heads;
    private final List<float[]> numbers;
    private final List<Texts> texts;
    private final String placeWord;
    private final long[] places;

    /**
     * A column.
     *
     * @param name what to call it
     * @param isNumber whether it holds numbers; otherwise texts
     */
    public record Head(String name, boolean isNumber) {}

    private Table(Builder builder) {
        this.name = builder.name;
        this.heads = builder.heads;
        this.numbers = builder.numbers;
        this.texts = builder.texts;
        this.placeWord = builder.placeWord;
        this.places = Arrays.copyOf(builder.places, builder.numbers.size());
    }

    /** Texts of one column: a code for each row, −1 if it is missing. */
    private static final class Texts {
        private final Map<String, Integer> codes = new LinkedHashMap<>();
        private int[] rows = new int[16];

        void add(int row, @Nullable String text) {
            if (row == rows.length) {
                rows = Arrays.copyOf(rows, 2 * row);
            }
            rows[row] = text == null ? -1 : codes.computeIfAbsent(text, _ -> codes.size());
        }
    }

    /** Collects rows. */
    public static final class Builder {
        private final String name;
        private final List<Head> heads;
        private final String placeWord;
        private final List<float[]> numbers = new ArrayList<>();
        private final List<Texts> texts = new ArrayList<>();
        private long[] places = new long[16];

        /**
         * An empty table.
         *
         * @param name what to call it: the file, for one
         * @param heads its columns
         * @param placeWord what places of rows are called: line, row
         */
        public Builder(String name, List<Head> heads, String placeWord) {
            this.name = name;
            this.heads = List.copyOf(heads);
            this.placeWord = placeWord;
            heads.forEach(_ -> texts.add(new Texts()));
        }

        /**
         * Begins a row.
         *
         * @param place where it stands, from 1
         */
        public void begin(long place) {
            int row = numbers.size();
            if (row == places.length) {
                places = Arrays.copyOf(places, 2 * row);
            }
            places[row] = place;
            numbers.add(new float[heads.size()]);
        }

        /**
         * A number of the row that was begun last.
         *
         * @param column which column, one of numbers
         * @param value the number; NaN if it is missing
         */
        public void number(int column, float value) {
            numbers.getLast()[column] = value;
        }

        /**
         * A text of the row that was begun last.
         *
         * @param column which column, one of texts
         * @param text the text; null if it is missing
         */
        public void text(int column, @Nullable String text) {
            texts.get(column).add(numbers.size() - 1, text);
        }

        /**
         * The table.
         *
         * @return all rows; there must be one
         */
        public Table build() {
            Check.atLeast("the number of rows of " + name, numbers.size(), 1);
            return new Table(this);
        }

        /**
         * The number of rows so far.
         *
         * @return how many were begun
         */
        public int size() {
            return numbers.size();
        }
    }

    /**
     * Names that differ: what comes again has a number behind it.
     *
     * @param names names of columns
     * @return as many, all different
     */
    public static List<String> unique(List<String> names) {
        Set<String> unique = new LinkedHashSet<>();
        Map<String, Integer> next = new HashMap<>(); // a file may have the same name a hundred thousand times
        for (String name : names) {
            String candidate = name;
            for (int i = next.getOrDefault(name, 2); !unique.add(candidate); i++) {
                candidate = name + " (" + i + ")";
                next.put(name, i + 1);
            }
        }
        return new ArrayList<>(unique);
    }

    /**
     * What it is called.
     *
     * @return the file, for one
     */
    public String name() {
        return name;
    }

    /**
     * Its columns.
     *
     * @return in order
     */
    public List<Head> heads() {
        return heads;
    }

    /**
     * The number of rows.
     *
     * @return at least 1
     */
    public int size() {
        return numbers.size();
    }

    /** Where a row stands, for messages. */
    String place(int row) {
        return name + ", " + placeWord + " " + places[row];
    }

    /** Where a row stands within the table. */
    String shortPlace(int row) {
        return placeWord + " " + places[row];
    }

    /** A number; NaN if it is missing. */
    float number(int column, int row) {
        return numbers.get(row)[column];
    }

    /**
     * What occurs in a column of texts.
     *
     * @param column which column
     * @return each text once, in the order in which they occur
     */
    public List<String> texts(int column) {
        return List.copyOf(texts.get(column).codes.keySet());
    }

    /**
     * Which of its column's texts a row has.
     *
     * @param column which column, one of texts
     * @param row which row
     * @return an index into {@link #texts}; −1 if it is missing
     */
    public int text(int column, int row) {
        return texts.get(column).rows[row];
    }

    boolean isMissing(int column, int row) {
        return heads.get(column).isNumber() ? Float.isNaN(number(column, row)) : text(column, row) < 0;
    }
}
