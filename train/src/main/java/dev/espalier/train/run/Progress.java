package dev.espalier.train.run;

/**
 * How far a training is.
 *
 * @param seed the run's seed
 * @param phase {@code warm-up}, {@code sparsify} or {@code heal}; {@code train} for a baseline
 * @param step steps done
 * @param steps steps that there are to do
 * @param epoch the epoch that is being done, from 1
 * @param epochs epochs that there are to do
 * @param loss mean loss since the last evaluation
 * @param metric what is counted as right: {@code accuracy}, say
 * @param score share of samples since then that were right
 * @param groupsLeft share of groups that are not zero; 1 without a penalty
 * @param samplesPerSecond of this training
 * @param samples what they are called, plural
 * @param secondsLeft an estimate
 */
public record Progress(
        long seed,
        String phase,
        long step,
        long steps,
        int epoch,
        int epochs,
        double loss,
        String metric,
        double score,
        double groupsLeft,
        double samplesPerSecond,
        String samples,
        double secondsLeft) {}
