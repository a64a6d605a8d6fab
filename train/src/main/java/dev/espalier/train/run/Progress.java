package dev.espalier.train.run;

import dev.espalier.train.journal.Metric;

/**
 * How far a training is.
 *
 * @param seed the run's seed
 * @param phase {@code warm-up}, {@code sparsify} or {@code heal}; {@code train} for a baseline, and {@code before} before
 *     the first step
 * @param step steps done
 * @param steps steps that there are to do
 * @param epoch the epoch that is being done, from 1; 0 before the first
 * @param epochs epochs that there are to do
 * @param loss mean loss since the last evaluation; NaN before the first step
 * @param metric what counts most of what is measured in training
 * @param score its value since then
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
        Metric metric,
        double score,
        double groupsLeft,
        double samplesPerSecond,
        String samples,
        double secondsLeft) {}
