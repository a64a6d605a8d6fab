package dev.espalier.data;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** What is wrong with data, told all at once rather than one after the other. */
public final class Problems {
    /** More would push the first off the screen. */
    private static final int SHOWN = 20;

    private final List<DataException> shown = new ArrayList<>();
    private long count;

    /** None yet. */
    public Problems() {}

    /**
     * Notes one.
     *
     * @param problem what is wrong, and where
     */
    public void add(DataException problem) {
        count++;
        if (shown.size() < SHOWN) {
            shown.add(problem);
        }
    }

    /**
     * Tells of them.
     *
     * @throws DataException if there is one or more; of many, the first are told in full
     */
    public void requireNone() throws DataException {
        if (count == 1) {
            throw shown.getFirst();
        }
        if (count > 1) {
            StringBuilder all = new StringBuilder(String.format(Locale.ROOT, "%,d problems:", count));
            shown.forEach(problem -> all.append("\n  ").append(problem.getMessage()));
            if (count > shown.size()) {
                all.append(String.format(Locale.ROOT, "%n  and %,d more", count - shown.size()));
            }
            throw new DataException(all.toString(), shown.getFirst());
        }
    }
}
