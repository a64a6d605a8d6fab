package dev.espalier.train.run;

import dev.espalier.core.check.Check;
import java.lang.foreign.MemorySegment;
import java.util.LinkedHashMap;
import java.util.SequencedMap;

/**
 * Adapts the strength λ of a penalty during training, so that the share of a model that is left (groups, parameters or
 * FLOPs; 1 for all) falls to a target and stays there.
 *
 * <p>What is wanted at a progress {@code p} falls along a cube, much at first and little at last (Zhu and Gupta, To prune, or
 * not to prune, 2017), and a proportional-integral rule for {@code ln λ} follows it:
 *
 * <pre>{@code
 * wanted(p) = target + (1 − target) · max(0, 1 − p/r)³
 * e         = share − wanted(p)
 * ln λ      ← ln λ + I · e · Δp + P · Δe, by S · Δp at most
 * }</pre>
 *
 * <p>Symbols: r, the progress by which the target shall be reached; e, what is left too much; I, P and S, fixed numbers; Δ, the
 * change since the last call. The integral part finds the order of magnitude of λ, wherever it starts. The proportional part
 * answers a fall of the share at once: a group that is zero returns only when λ falls far below what made it zero, so that
 * the target should be approached from above. It takes a group many steps to become zero: S keeps λ from running away until
 * then, and from tearing the model apart. As all of it counts progress, not calls, it does not matter how often λ is
 * adapted.
 */
final class LambdaController {
    /** I: an error of 0.1 over a tenth of the training changes λ by a factor of 1.8. */
    private static final double INTEGRAL_GAIN = 60;

    /** P: when a tenth of the model is lost at once, λ falls to 0.9 of what it was. */
    private static final double PROPORTIONAL_GAIN = 1;

    /** S: in a twentieth of the training, λ doubles or halves at most. */
    private static final double STEEPEST = 14;

    /** How far ln λ may go from where it started: six powers of ten. */
    private static final double REACH = 6 * Math.log(10);

    private static final int LOGARITHM = 0;
    private static final int ERROR = 1;
    private static final int PROGRESS = 2;

    private double start;
    private final double target;
    private final double reachedAfter;

    /** ln(λ/start), the last error, the last progress. */
    private final double[] memory = new double[3];

    /**
     * A controller at its start.
     *
     * @param start λ to begin with, above 0
     * @param target the share that shall be left, above 0 and below 1
     * @param reachedAfter by which progress, above 0 and at most 1
     */
    public LambdaController(double start, double target, double reachedAfter) {
        this.start = Check.positive("start", start);
        this.target = requireIn("target", target, target > 0 && target < 1, "above 0 and below 1");
        this.reachedAfter =
                requireIn("reachedAfter", reachedAfter, reachedAfter > 0 && reachedAfter <= 1, "above 0 and at most 1");
    }

    /**
     * Begins elsewhere. What the controller has learned since counts from there.
     *
     * @param other λ to begin with, above 0
     */
    public void startAt(double other) {
        start = Check.positive("start", other);
    }

    private static double requireIn(String name, double value, boolean legal, String range) {
        if (!legal) {
            throw new IllegalArgumentException(name + " = " + value + " is out of range: it must be " + range);
        }
        return value;
    }

    /**
     * The strength until the next call.
     *
     * @param progress how much of the phase is over, from 0 to 1; not less than at the last call
     * @param share how much of the model is left now, from 0 to 1
     * @return λ
     */
    public double next(double progress, double share) {
        requireIn("progress", progress, progress >= memory[PROGRESS] && progress <= 1, memory[PROGRESS] + " to 1");
        requireIn("share", share, share >= 0 && share <= 1, "0 to 1");
        double error = share - wanted(progress);
        double time = progress - memory[PROGRESS];
        double change = INTEGRAL_GAIN * error * time + PROPORTIONAL_GAIN * (error - memory[ERROR]);
        double most = STEEPEST * time;
        memory[LOGARITHM] = Math.clamp(memory[LOGARITHM] + Math.clamp(change, -most, most), -REACH, REACH);
        memory[ERROR] = error;
        memory[PROGRESS] = progress;
        return lambda();
    }

    /**
     * The strength that is in force.
     *
     * @return λ of the last call, or where it starts
     */
    public double lambda() {
        return start * StrictMath.exp(memory[LOGARITHM]);
    }

    /**
     * The share that is on the way to the target.
     *
     * @param progress how much of the phase is over, from 0 to 1
     * @return what shall be left by then
     */
    public double wanted(double progress) {
        double ahead = Math.max(0, 1 - progress / reachedAfter);
        return target + (1 - target) * ahead * ahead * ahead;
    }

    /**
     * All that is kept between calls, as live memory by name: whoever saves it and later reads it back into a controller
     * that was made alike goes on bit for bit.
     *
     * @return the memory
     */
    public SequencedMap<String, MemorySegment> state() {
        SequencedMap<String, MemorySegment> state = new LinkedHashMap<>();
        state.put("strength", MemorySegment.ofArray(memory));
        return state;
    }
}
