package dev.espalier.core.schedule;

import dev.espalier.core.check.Check;
import java.util.List;

/**
 * The learning rate α over training steps. All periods are in steps; {@code epochs × steps an epoch} for those that are
 * thought of in epochs.
 */
public sealed interface LearningRate {

    /**
     * The rate of a step.
     *
     * @param step which step, from 0
     * @return α
     */
    double at(long step);

    /**
     * {@return the same rate throughout}
     *
     * @param rate α
     */
    static LearningRate constant(double rate) {
        return new Constant(rate);
    }

    /**
     * This schedule after a warm-up: the rate rises linearly, in equal parts, to what the schedule says.
     *
     * @param steps length of the warm-up; the schedule itself runs from step 0
     * @return the schedule
     */
    default LearningRate warmedUp(long steps) {
        return new WarmUp(steps, this);
    }

    /**
     * {@return this schedule for some steps, then another one}
     *
     * @param steps how long this one holds
     * @param next what follows, from its own step 0
     */
    default LearningRate then(long steps, LearningRate next) {
        return new Then(this, steps, next);
    }

    /**
     * The same rate throughout.
     *
     * @param rate α ≥ 0
     */
    record Constant(double rate) implements LearningRate {
        /** Checks α. */
        public Constant {
            Check.notNegative("rate", rate);
        }

        @Override
        public double at(long step) {
            return rate;
        }
    }

    /**
     * {@code α = initial · factor^⌊step / every⌋}.
     *
     * @param initial the rate to begin with
     * @param factor what it is multiplied with
     * @param every after how many steps
     */
    record StepDecay(double initial, double factor, long every) implements LearningRate {
        /** Checks the numbers. */
        public StepDecay {
            Check.notNegative("initial", initial);
            Check.positive("factor", factor);
            Check.atLeast("every", every, 1);
        }

        @Override
        public double at(long step) {
            return initial * StrictMath.pow(factor, (double) Math.floorDiv(step, every));
        }
    }

    /**
     * {@code α = initial · factor^(number of milestones that have passed)}.
     *
     * @param initial the rate to begin with
     * @param factor what it is multiplied with
     * @param milestones the steps at which it is, in rising order
     */
    record MultiStep(double initial, double factor, List<Long> milestones) implements LearningRate {
        /** Checks the numbers. */
        public MultiStep {
            Check.notNegative("initial", initial);
            Check.positive("factor", factor);
            milestones = List.copyOf(milestones);
            if (!milestones.equals(milestones.stream().sorted().distinct().toList())) {
                throw new IllegalArgumentException("milestones = " + milestones + " must be in rising order");
            }
        }

        @Override
        public double at(long step) {
            long passed =
                    milestones.stream().filter(milestone -> milestone <= step).count();
            return initial * StrictMath.pow(factor, (double) passed);
        }
    }

    /**
     * Linear from {@code initial} to zero over {@code steps}.
     *
     * @param initial the rate to begin with
     * @param steps when it reaches zero
     */
    record LinearToZero(double initial, long steps) implements LearningRate {
        /** Checks the numbers. */
        public LinearToZero {
            Check.notNegative("initial", initial);
            Check.atLeast("steps", steps, 1);
        }

        @Override
        public double at(long step) {
            return initial * Math.max(0, 1 - (double) step / steps);
        }
    }

    /**
     * Half a cosine from {@code initial} to {@code last} over {@code steps}.
     *
     * @param initial the rate to begin with
     * @param last the rate to end with
     * @param steps when it is reached
     */
    record Cosine(double initial, double last, long steps) implements LearningRate {
        /** Checks the numbers. */
        public Cosine {
            Check.notNegative("initial", initial);
            Check.notNegative("last", last);
            Check.atLeast("steps", steps, 1);
        }

        @Override
        public double at(long step) {
            double progress = Math.min(1, (double) step / steps);
            return last + (initial - last) * (1 + StrictMath.cos(Math.PI * progress)) / 2;
        }
    }

    /**
     * Another schedule, its first steps damped: {@code α = schedule(step) · min(1, (step + 1)/steps)}.
     *
     * @param steps length of the warm-up
     * @param schedule the schedule
     */
    record WarmUp(long steps, LearningRate schedule) implements LearningRate {
        /** Checks the length. */
        public WarmUp {
            Check.atLeast("steps", steps, 1);
        }

        @Override
        public double at(long step) {
            return schedule.at(step) * Math.min(1, (step + 1.0) / steps);
        }
    }

    /**
     * One schedule after the other, each from its own step 0: {@code α = first(step)} up to {@code steps}, then
     * {@code next(step − steps)}.
     *
     * @param first what comes first
     * @param steps for how long
     * @param next what follows and goes on
     */
    record Then(LearningRate first, long steps, LearningRate next) implements LearningRate {
        /** Checks the length. */
        public Then {
            Check.atLeast("steps", steps, 1);
        }

        @Override
        public double at(long step) {
            return step < steps ? first.at(step) : next.at(step - steps);
        }
    }
}
