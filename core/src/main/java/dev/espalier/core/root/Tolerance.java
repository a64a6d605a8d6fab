package dev.espalier.core.root;

import dev.espalier.core.check.Check;

/**
 * When a solver may stop.
 *
 * @param relative ε, the relative error allowed in the solution's norm θ; below machine precision a solver goes as far
 *     as double arithmetic goes
 * @param maxIterations the limit; a solver that reaches it says so in its result
 */
public record Tolerance(double relative, int maxIterations) {

    /** As exact as double arithmetic allows. */
    public static final Tolerance EXACT = new Tolerance(1e-16, 200);

    /** Checks the range. */
    public Tolerance {
        Check.positive("relative tolerance", relative);
        Check.atLeast("maxIterations", maxIterations, 1);
    }
}
