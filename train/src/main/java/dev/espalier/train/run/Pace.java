package dev.espalier.train.run;

/** How fast a session goes, and how long it will take. */
final class Pace {
    private final long started = System.nanoTime();
    private final long first;
    private final long total;

    /**
     * Starts the clock.
     *
     * @param first steps that were done before
     * @param total steps that there are to do, those included
     */
    Pace(long first, long total) {
        this.first = first;
        this.total = total;
    }

    double secondsLeft(long steps) {
        double seconds = (System.nanoTime() - started) / 1e9;
        return steps <= first ? 0 : seconds / (steps - first) * (total - steps);
    }
}
