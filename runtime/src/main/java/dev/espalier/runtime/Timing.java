package dev.espalier.runtime;

import dev.espalier.core.check.Check;
import java.util.function.Consumer;

/**
 * What a model is pruned for, and how long it may be measured.
 *
 * @param goal what for
 * @param seconds how long widths may be tried and models be run, in all; 0 to measure nothing, for which the goal must be size
 * @param progress is told how things stand, in words
 */
public record Timing(Goal goal, double seconds, Consumer<String> progress) {

    /** What a model is pruned for. */
    public enum Goal {
        /** The widths that ONNX Runtime runs fastest; the smallest of those that are equally fast. */
        LATENCY,
        /** All that can go goes. */
        SIZE
    }

    /** How long is measured if nobody says so. */
    public static final double SECONDS = 20;

    /** For latency, without a word. */
    public static final Timing DEFAULT = new Timing(Goal.LATENCY, SECONDS, _ -> {});

    /** Checks the time. */
    public Timing {
        Check.notNegative("seconds", seconds);
        if (goal == Goal.LATENCY && seconds == 0) {
            throw new IllegalArgumentException("which widths are fastest cannot be told without measuring: give it time"
                    + " (seconds > 0), or prune for size");
        }
    }

    /**
     * Measures, but tries no other widths than those of the plan.
     *
     * @param seconds how long may be measured; 0 for not at all
     * @return for size, without a word
     */
    public static Timing size(double seconds) {
        return new Timing(Goal.SIZE, seconds, _ -> {});
    }
}
