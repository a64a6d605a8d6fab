package dev.espalier.data.table;

import dev.espalier.data.DataException;
import java.util.Optional;

/** Counts of what the cells of a column are, that are neither numbers nor missing: dates with an offset, without one, or other texts. */
final class SeenDates {
    private final First local = new First();
    private final First zoned = new First();
    private final First other = new First();

    /** Some cells, and the first of them. */
    private static final class First {
        private long count;
        private String text = "";
        private long place;
    }

    /** Adds a cell. */
    void add(String cell, long place) {
        Optional<IsoDate> date = IsoDate.parse(cell);
        First first = date.isEmpty() ? other : date.get().zoned() ? zoned : local;
        if (first.count++ == 0) {
            first.text = cell;
            first.place = place;
        }
    }

    /** Makes the message of a cell at a place. */
    @FunctionalInterface
    interface Refusal {
        DataException of(long place, String problem);
    }

    /**
     * What the column holds.
     *
     * @param numbers how many of its cells are numbers
     * @throws DataException if most cells are dates, but not all, or if only some dates have an offset
     */
    Table.Content content(String column, long numbers, Refusal refusal) throws DataException {
        long dates = local.count + zoned.count;
        long others = other.count + numbers;
        if (dates <= others) {
            return Table.Content.TEXTS;
        }
        if (other.count > 0) {
            throw refusal.of(
                    other.place,
                    "'%s' in column %s: expected %s, as in %,d other rows; if the column holds names, list it in data.categories"
                            .formatted(other.text, column, IsoDate.EXPECTED, dates));
        }
        if (numbers > 0) {
            throw refusal.of(
                    (zoned.count > 0 ? zoned : local).place,
                    "column %s holds %,d dates and %,d numbers: write all of it as dates, such as 2024-03-05; if it holds names, list it in data.categories"
                            .formatted(column, dates, numbers));
        }
        if (local.count > 0 && zoned.count > 0) {
            First rare = local.count < zoned.count ? local : zoned;
            throw refusal.of(
                    rare.place,
                    "'%s' in column %s %s, unlike %,d other rows: write all with an offset, which are brought to UTC, or all without"
                            .formatted(
                                    rare.text,
                                    column,
                                    rare == zoned ? "has an offset from UTC" : "has no offset from UTC",
                                    Math.max(local.count, zoned.count)));
        }
        return zoned.count > 0 ? Table.Content.UTC_DATES : Table.Content.DATES;
    }
}
