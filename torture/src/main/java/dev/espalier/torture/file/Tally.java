package dev.espalier.torture.file;

import dev.espalier.torture.file.Reading.Failure;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/** What came of one reader's files so far. Threads may share it. */
final class Tally {
    private static final double NANOS_A_MILLISECOND = 1e6;

    private final String name;
    private final int share;
    private final Target.Memory memory;
    private final Map<String, Long> failures = new TreeMap<>();
    private long cases;
    private long sound;
    private long nanos;
    private long worstNanos;
    private long worstAllocated;
    private double worstShare;

    Tally(Target target) {
        this.name = target.name();
        this.share = target.share();
        this.memory = target.memory();
    }

    /** Counts a reading; true if it fails as none before. */
    synchronized boolean add(int length, Reading reading) {
        cases++;
        sound += reading.sound() ? 1 : 0;
        nanos += reading.nanos();
        worstNanos = Math.max(worstNanos, reading.nanos());
        worstAllocated = Math.max(worstAllocated, reading.allocated());
        worstShare = Math.max(worstShare, (double) reading.allocated() / memory.most(length));
        return reading.failure()
                .map(Failure::signature)
                .filter(signature -> failures.merge(signature, 1L, Long::sum) == 1)
                .isPresent();
    }

    /** How long a file took on average; not nothing, as it is divided by. */
    synchronized double meanNanos() {
        return Math.max(1e5, (double) nanos / Math.max(1, cases));
    }

    String name() {
        return name;
    }

    int share() {
        return share;
    }

    synchronized long cases() {
        return cases;
    }

    /** How many files were read to the end. */
    synchronized long sound() {
        return sound;
    }

    /** How many files failed. */
    synchronized long failed() {
        return failures.values().stream().mapToLong(Long::longValue).sum();
    }

    /** In how many ways files failed. */
    synchronized int ways() {
        return failures.size();
    }

    synchronized double worstMilliseconds() {
        return worstNanos / NANOS_A_MILLISECOND;
    }

    /** A row of a table, as Markdown. */
    synchronized String row(Corpus corpus) {
        return String.format(
                Locale.ROOT,
                "| %s | %,d | %,d | %,d | %d | %,d | %,d | %,.0f | %.1f | %d + %d × | %.2f |",
                name,
                cases,
                sound,
                failed(),
                failures.size(),
                corpus.size(),
                corpus.turns(),
                worstMilliseconds(),
                worstAllocated / 1048576.0,
                memory.constant() >> 20,
                memory.multiple(),
                worstShare);
    }

    /** What {@link #row} has. */
    static String head() {
        return """
                | reader | files | read to the end | failures | ways to fail | files kept | turns taken | slowest (ms) | most memory (MiB) | \
                limit (MiB + × file) | share of the limit |
                |---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|""";
    }
}
