package dev.espalier.train.journal;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonValue;
import java.util.Locale;
import java.util.Objects;

/**
 * A measure of how faithful a smaller model is to its original, next to the same measure of a trivial model: one that gives the same output
 * for all inputs, namely the original's most frequent class, or the mean of its outputs.
 *
 * <pre>skill = (fidelity − trivial) / (1 − trivial)</pre>
 *
 * <p>A skill of 1 is the original itself, 0 is no better than the trivial model.
 *
 * @param measure what is measured
 * @param fidelity the smaller model's value; 1 is the original's
 * @param trivial the trivial model's value
 */
public record FidelityFigure(Measure measure, double fidelity, double trivial) {
    /** The smallest skill of a model that can stand in for its original. */
    public static final double MIN_SKILL = 0.5;

    /** A trivial model this close to 1 is the original: sums of single precision are no more exact. */
    private static final double EXACT = 1e-9;

    /** Where the trivial model is the original, a fidelity below this is worse, and others tell nothing. */
    private static final double NEAR = 0.99;

    /** Smaller skills are not written out: how far below 0 says nothing more. */
    private static final double MIN_WRITTEN = -10;

    /** The measures. Each is 1 for the original itself. */
    public enum Measure {
        /** Share of positions with the same class. */
        AGREEMENT("agreement", true),
        /** Share of samples with the same class at every position. */
        WHOLE_AGREEMENT("agreement of whole samples", true),
        /** Mean over the original's classes of the share of its positions with the same class. */
        BALANCED_AGREEMENT("balanced agreement", true),
        /** Share of the original's top 1 % that is in the smaller model's top 1 %, by score. */
        TOP_AGREEMENT("agreement on the top 1 %", true),
        /** Mean cosine between both outputs of a sample. */
        COSINE("cosine", false),
        /** Mean cosine between both vectors of a token. */
        TOKEN_COSINE("cosine of tokens", false),
        /** 1 less the sum of squared differences, as a share of the sum of squares around the means of the columns. */
        R2("R²", false);

        private final String words;
        private final boolean isShare;

        Measure(String words, boolean isShare) {
            this.words = words;
            this.isShare = isShare;
        }

        /** {@return the name for people} */
        public String words() {
            return words;
        }

        /** {@return the key in files: lower case with underscores} */
        @JsonValue
        public String key() {
            return name().toLowerCase(Locale.ROOT);
        }

        /**
         * {@return a value for people: a percentage, or a number with as many digits as it takes to see how far from 1 it is}
         *
         * @param value a value of this measure
         */
        public String write(double value) {
            return isShare && Double.isFinite(value)
                    ? String.format(Locale.ROOT, "%.2f %%", 100 * value)
                    : Findings.cosine(value);
        }
    }

    /** Requires a measure: a file may lack it. */
    public FidelityFigure {
        Objects.requireNonNull(measure, "a fidelity without a measure");
    }

    /**
     * The share of the way from the trivial model to the original that the smaller model has come.
     *
     * @return 1 at best; NaN if the trivial model is as good as the original, so that nothing is known; −∞ if the smaller model is worse even then
     */
    @JsonProperty(access = JsonProperty.Access.READ_ONLY)
    public double skill() {
        if (trivial > 1 - EXACT) {
            return fidelity < NEAR ? Double.NEGATIVE_INFINITY : Double.NaN;
        }
        return (fidelity - trivial) / (1 - trivial);
    }

    /** {@return whether the smaller model can hardly stand in for its original; false if nothing is known} */
    public boolean isPoor() {
        return skill() < MIN_SKILL;
    }

    /** {@return the skill for people; a dash if it is not known} */
    public String skillInWords() {
        double skill = skill();
        return Double.isNaN(skill)
                ? "–"
                : skill < MIN_WRITTEN
                        ? String.format(Locale.ROOT, "below %.0f", MIN_WRITTEN)
                        : String.format(Locale.ROOT, "%.2f", skill);
    }

    /** {@return the same measure of the original itself} */
    public FidelityFigure ofOriginal() {
        return new FidelityFigure(measure, 1, trivial);
    }
}
