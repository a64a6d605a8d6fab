package dev.espalier.data.table;

import dev.espalier.core.check.Check;
import dev.espalier.data.DataException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Rows of numbers, dates and texts in memory: what every kind of table is read into. A text is kept once, however often it occurs. */
public final class Table {
    private final String name;
    private final List<Head> heads;
    private final List<float[]> numbers;
    private final List<Texts> texts;
    private final String placeWord;
    private final long[] places;

    /** What a column holds. */
    public enum Content {
        /** Numbers. */
        NUMBERS,
        /** Dates, or dates and times, without an offset from UTC. */
        DATES,
        /** Dates and times that have an offset, in UTC. */
        UTC_DATES,
        /** Texts. */
        TEXTS
    }

    /**
     * A column.
     *
     * @param name what to call it
     * @param content what it holds
     */
    public record Head(String name, Content content) {
        /** {@return whether it holds texts, and no numbers or dates} */
        public boolean isText() {
            return content == Content.TEXTS;
        }

        /** {@return whether it holds dates} */
        public boolean isDate() {
            return content == Content.DATES || content == Content.UTC_DATES;
        }

        /** As messages have it. */
        @Override
        public String toString() {
            return "%s (%s)"
                    .formatted(name, content.name().toLowerCase(Locale.ROOT).replace("_dates", " dates"));
        }
    }

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
        private final Map<String, Integer> codes = new HashMap<>();
        private final List<String> values = new ArrayList<>();
        private int[] rows = new int[16];

        void add(int row, @Nullable String text) {
            if (row == rows.length) {
                rows = Arrays.copyOf(rows, 2 * row);
            }
            rows[row] = text == null ? -1 : code(text);
        }

        private int code(String text) {
            Integer known = codes.putIfAbsent(text, values.size());
            if (known != null) {
                return known;
            }
            values.add(text);
            return values.size() - 1;
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
         * A date of the row that was begun last.
         *
         * @param column which column, one of dates
         * @param text the date, as ISO 8601 writes it; null if it is missing
         * @throws DataException if it is none, or has an offset where the column's have none, or none where they have one
         */
        public void date(int column, @Nullable String text) throws DataException {
            Head head = heads.get(column);
            number(
                    column,
                    text == null ? Float.NaN : days(head, text, () -> place(name, placeWord, places[size() - 1])));
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
     * What the columns hold, where texts may be dates.
     *
     * @param candidates columns of texts that are taken for dates if all their values are
     * @return the heads, to be given to {@link #as}
     * @throws DataException if most values of one are dates, but not all
     */
    public List<Head> recognized(Set<Integer> candidates) throws DataException {
        List<Head> recognized = new ArrayList<>();
        for (int i = 0; i < heads.size(); i++) {
            int column = i;
            Head head = heads.get(i);
            if (!candidates.contains(i) || !head.isText()) {
                recognized.add(head);
                continue;
            }
            SeenDates seen = new SeenDates();
            List<String> values = texts(column);
            for (int code = 0; code < values.size(); code++) {
                seen.add(values.get(code), code);
            }
            Content content = seen.content(
                    head.name(), 0, (code, problem) -> DataException.in(place(firstRow(column, (int) code)), problem));
            recognized.add(new Head(head.name(), content));
        }
        return recognized;
    }

    private int firstRow(int column, int code) {
        return IntStream.range(0, size())
                .filter(row -> text(column, row) == code)
                .findFirst()
                .orElseThrow();
    }

    /**
     * The same rows, where some columns of texts are dates.
     *
     * @param wanted heads by {@link #recognized}, of this table or of another with the same columns
     * @return the table
     * @throws DataException if a text is no date
     */
    public Table as(List<Head> wanted) throws DataException {
        if (wanted.equals(heads)) {
            return this;
        }
        Builder builder = new Builder(name, wanted, placeWord);
        for (int row = 0; row < size(); row++) {
            builder.begin(places[row]);
            for (int column = 0; column < wanted.size(); column++) {
                if (!heads.get(column).isText()) {
                    builder.number(column, number(column, row));
                    continue;
                }
                int code = text(column, row);
                String text = code < 0 ? null : texts.get(column).values.get(code);
                if (wanted.get(column).isText()) {
                    builder.text(column, text);
                } else {
                    builder.date(column, text);
                }
            }
        }
        return builder.build();
    }

    private static float days(Head head, String text, Supplier<String> place) throws DataException {
        boolean zoned = head.content() == Content.UTC_DATES;
        Optional<IsoDate> date = IsoDate.parse(text).filter(found -> found.zoned() == zoned);
        if (date.isEmpty()) {
            throw DataException.in(
                    place.get(),
                    "'%s' in column %s: expected %s"
                            .formatted(text, head.name(), zoned ? IsoDate.EXPECTED_ZONED : IsoDate.EXPECTED));
        }
        return date.get().days();
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
        return place(name, placeWord, places[row]);
    }

    private static String place(String name, String placeWord, long place) {
        return name + ", " + placeWord + " " + place;
    }

    /** Where a row stands within the table. */
    String shortPlace(int row) {
        return placeWord + " " + places[row];
    }

    /** A number, or the days of a date; NaN if it is missing. */
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
        return Collections.unmodifiableList(texts.get(column).values);
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
        return heads.get(column).isText() ? text(column, row) < 0 : Float.isNaN(number(column, row));
    }
}
