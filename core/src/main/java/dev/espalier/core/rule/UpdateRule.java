package dev.espalier.core.rule;

import dev.espalier.core.check.Check;

/**
 * How a gradient {@code g_t} becomes a direction {@code m_t} and a diagonal metric {@code D_t}: the rows of the paper's
 * table of optimizers. Without a penalty the step is {@code x ← x − α D⁻¹ m} (Algorithm 1), with one it ends in the
 * weighted proximal operator of the same D and α (Algorithm 2).
 */
public sealed interface UpdateRule {

    /**
     * Whether the rule keeps a running mean of gradients.
     *
     * @return true if it needs memory for a first moment
     */
    default boolean hasFirstMoment() {
        return at(1).keepFirst() != 0;
    }

    /**
     * Whether the rule keeps a running mean of squared gradients.
     *
     * @return true if it needs memory for a second moment
     */
    default boolean hasSecondMoment() {
        return at(1).keepSecond() != 0;
    }

    /**
     * {@return the rule at a step}
     *
     * @param step which step, from 1
     */
    Coefficients at(long step);

    /** Stochastic gradient descent: {@code m = g, D = I}. */
    record Sgd() implements UpdateRule {
        @Override
        public Coefficients at(long step) {
            return new Coefficients(0, 1, 1, 0, 0, 0, 1, 0);
        }
    }

    /**
     * Momentum (Rumelhart et al., 1986): {@code m ← μ m + g, D = I}.
     *
     * @param momentum μ in {@code [0, 1)}
     */
    record Momentum(double momentum) implements UpdateRule {
        /** Checks μ. */
        public Momentum {
            Check.fraction("momentum", momentum);
        }

        /** With {@code μ = 0.9}. */
        public Momentum() {
            this(0.9);
        }

        @Override
        public Coefficients at(long step) {
            return new Coefficients(momentum, 1, 1, 0, 0, 0, 1, 0);
        }
    }

    /**
     * AdaGrad (Duchi et al., 2011): {@code m = g, v ← v + g², D = √v + ε}.
     *
     * @param epsilon ε > 0
     */
    record AdaGrad(double epsilon) implements UpdateRule {
        /** Checks ε. */
        public AdaGrad {
            Check.positive("epsilon", epsilon);
        }

        /** With {@code ε = 1e-10}. */
        public AdaGrad() {
            this(1e-10);
        }

        @Override
        public Coefficients at(long step) {
            return new Coefficients(0, 1, 1, 1, 1, 1, 0, epsilon);
        }
    }

    /**
     * RMSprop (Tieleman and Hinton, 2012): {@code m = g, v ← βv + (1−β)g², D = √(v + ε)}.
     *
     * @param decay β in {@code [0, 1)}
     * @param epsilon ε > 0
     */
    record RmsProp(double decay, double epsilon) implements UpdateRule {
        /** Checks β and ε. */
        public RmsProp {
            Check.fraction("decay", decay);
            Check.positive("epsilon", epsilon);
        }

        /** With {@code β = 0.99, ε = 1e-8}. */
        public RmsProp() {
            this(0.99, 1e-8);
        }

        @Override
        public Coefficients at(long step) {
            return new Coefficients(0, 1, 1, decay, 1 - decay, 1, epsilon, 0);
        }
    }

    /**
     * Adam (Kingma and Ba, 2015), with its bias corrections in the direction and in the metric:
     * {@code m̂ ← β₁m̂ + (1−β₁)g, m = m̂/(1−β₁ᵗ), v ← β₂v + (1−β₂)g², D = √(v/(1−β₂ᵗ)) + ε}.
     *
     * @param beta1 β₁ in {@code [0, 1)}
     * @param beta2 β₂ in {@code [0, 1)}
     * @param epsilon ε > 0
     * @param metric whether D is corrected
     */
    record Adam(double beta1, double beta2, double epsilon, Metric metric) implements UpdateRule {

        /** What becomes of the bias of D, which starts from zero. */
        public enum Metric {
            /** {@code D = √(v/(1−β₂ᵗ)) + ε}, as above. */
            CORRECTED,
            /**
             * {@code D = √v + ε} and {@code m = m̂·√(1−β₂ᵗ)/(1−β₁ᵗ)}: without a penalty the step is the same but for ε; under one,
             * early thresholds are stronger, by 31 times at the first step. The paper's own program does this; it is here
             * to be compared with.
             */
            UNCORRECTED
        }

        /** Checks β₁, β₂ and ε. */
        public Adam {
            Check.fraction("beta1", beta1);
            Check.fraction("beta2", beta2);
            Check.positive("epsilon", epsilon);
        }

        /**
         * With a metric that is corrected.
         *
         * @param beta1 β₁ in {@code [0, 1)}
         * @param beta2 β₂ in {@code [0, 1)}
         * @param epsilon ε > 0
         */
        public Adam(double beta1, double beta2, double epsilon) {
            this(beta1, beta2, epsilon, Metric.CORRECTED);
        }

        /** With {@code β₁ = 0.9, β₂ = 0.999, ε = 1e-8}. */
        public Adam() {
            this(0.9, 0.999, 1e-8);
        }

        @Override
        public Coefficients at(long step) {
            double first = 1 - StrictMath.pow(beta1, (double) step);
            double second = 1 - StrictMath.pow(beta2, (double) step);
            return switch (metric) {
                case CORRECTED ->
                    new Coefficients(beta1, 1 - beta1, 1 / first, beta2, 1 - beta2, 1 / second, 0, epsilon);
                case UNCORRECTED ->
                    new Coefficients(beta1, 1 - beta1, Math.sqrt(second) / first, beta2, 1 - beta2, 1, 0, epsilon);
            };
        }

        /**
         * {@return the same with another metric}
         *
         * @param other which
         */
        public Adam withMetric(Metric other) {
            return new Adam(beta1, beta2, epsilon, other);
        }
    }
}
