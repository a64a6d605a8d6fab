package dev.espalier.settings;

import java.util.Collection;
import java.util.Comparator;
import java.util.Locale;
import java.util.Optional;

/** The known name that is most like a misspelled one, by Damerau's and Levenshtein's distance. */
public final class Nearest {
    /** Twice as long as any key: what is longer is like none, and comparing takes memory by the square. */
    private static final int LONGEST = 100;

    private Nearest() {}

    /**
     * The path that is most like another: as a whole, or else by its last part, wherever that stands. None if half of it would have
     * to be written again.
     *
     * @param wrong the path to look for
     * @param right the known paths
     * @return the nearest of them; a tie goes to the alphabetically first
     */
    public static Optional<String> path(String wrong, Collection<String> right) {
        return right.stream()
                .filter(path -> wrong.length() <= LONGEST && isLike(wrong, path))
                .min(Comparator.<String>comparingInt(path -> distance(wrong, path))
                        .thenComparingInt(path -> edits(wrong, path))
                        .thenComparing(Comparator.naturalOrder()));
    }

    private static boolean isLike(String wrong, String right) {
        int most = Math.max(1, lastPart(wrong).length() / 2);
        return Math.min(edits(wrong, right), edits(lastPart(wrong), lastPart(right))) <= most;
    }

    private static int distance(String wrong, String right) {
        int moved = 1 + edits(lastPart(wrong), lastPart(right));
        return Math.min(edits(wrong, right), moved);
    }

    private static String lastPart(String path) {
        return path.substring(path.lastIndexOf('.') + 1);
    }

    /** Damerau's and Levenshtein's distance: insertions, deletions, replacements and swaps of neighbours. */
    static int edits(String left, String right) {
        String from = plain(left);
        String to = plain(right);
        int[][] least = new int[from.length() + 1][to.length() + 1];
        for (int i = 0; i <= from.length(); i++) {
            for (int j = 0; j <= to.length(); j++) {
                if (i == 0 || j == 0) {
                    least[i][j] = i + j;
                    continue;
                }
                boolean same = from.charAt(i - 1) == to.charAt(j - 1);
                int best = Math.min(least[i - 1][j], least[i][j - 1]) + 1;
                best = Math.min(best, least[i - 1][j - 1] + (same ? 0 : 1));
                if (i > 1
                        && j > 1
                        && from.charAt(i - 1) == to.charAt(j - 2)
                        && from.charAt(i - 2) == to.charAt(j - 1)) {
                    best = Math.min(best, least[i - 2][j - 2] + 1);
                }
                least[i][j] = best;
            }
        }
        return least[from.length()][to.length()];
    }

    /** Case and the kind of dash are not worth an edit. */
    private static String plain(String path) {
        return path.toLowerCase(Locale.ROOT).replace('-', '_');
    }
}
