package dev.espalier.train.journal;

import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;

/**
 * What a pruned model makes of the test part, sample by sample: more than scores, less than all answers. However large the data
 * is, this stays small.
 *
 * @param samples how many there are
 * @param outcome what the model got right and wrong
 * @param mistakes samples that it gets wrong, the worst first; no more than {@link #MOST_MISTAKES}
 */
public record Findings(Samples samples, Outcome outcome, List<Mistake> mistakes) {
    /** So many mistakes are kept. */
    public static final int MOST_MISTAKES = 24;

    /** So many pairs of classes that are taken for each other are kept: all of them, up to 32 classes. */
    public static final int MOST_CONFUSIONS = 1000;

    /** Of so many numbers that are estimated, estimates are kept. */
    public static final int MOST_QUANTITIES = 4;

    /** So many estimates of a number are kept. */
    public static final int MOST_POINTS = 2000;

    /** Of so many samples that two models differ in most is told for each output. */
    public static final int MOST_DEVIANTS = 10;

    private static final int MOST_CHARACTERS = 600;

    /** Copies the list, and requires the rest: a file may lack it. */
    public Findings {
        Objects.requireNonNull(samples, "findings without samples");
        Objects.requireNonNull(outcome, "findings without an outcome");
        mistakes = List.copyOf(mistakes);
    }

    /**
     * {@return a text, cut where it gets too long to be shown}
     *
     * @param text of any length
     */
    public static String shortened(String text) {
        return text.length() <= MOST_CHARACTERS ? text : text.substring(0, MOST_CHARACTERS - 1) + "…";
    }

    /**
     * {@return a cosine with as many digits as it takes to see how far from 1 it is, such as {@code 0.99987}}
     *
     * @param cosine from −1 to 1, or NaN, which is a dash
     */
    public static String cosine(double cosine) {
        if (!Double.isFinite(cosine)) {
            return "–";
        }
        BigDecimal distance = new BigDecimal(1 - cosine);
        // Sums of single precision are no more exact.
        int digits = Math.clamp(2L + distance.scale() - distance.precision(), 3, 7);
        return BigDecimal.ONE
                .subtract(distance)
                .setScale(digits, RoundingMode.HALF_EVEN)
                .toPlainString();
    }

    /**
     * Numbers of samples.
     *
     * @param train what the model learned from
     * @param validation what it was watched by while it learned; 0 if that was the test part
     * @param test what it is judged by
     */
    public record Samples(long train, long validation, long test) {}

    /** What a model got right and wrong. */
    @JsonTypeInfo(use = JsonTypeInfo.Id.NAME, property = "kind", defaultImpl = Outcome.Unknown.class)
    @JsonSubTypes({
        @JsonSubTypes.Type(value = Outcome.Classes.class, name = "classes"),
        @JsonSubTypes.Type(value = Outcome.Labels.class, name = "labels"),
        @JsonSubTypes.Type(value = Outcome.Quantities.class, name = "quantities"),
        @JsonSubTypes.Type(value = Outcome.Answers.class, name = "answers"),
        @JsonSubTypes.Type(value = Outcome.Fidelity.class, name = "fidelity"),
        @JsonSubTypes.Type(value = Outcome.Unknown.class, name = "unknown")
    })
    public sealed interface Outcome {
        /**
         * One class for each sample.
         *
         * @param classes all of them, in order
         * @param confusions which are taken for which, the most frequent first; no more than {@link #MOST_CONFUSIONS}
         */
        record Classes(List<Tally> classes, List<Confusion> confusions) implements Outcome {
            /** Copies the lists. */
            public Classes {
                classes = List.copyOf(classes);
                confusions = List.copyOf(confusions);
            }
        }

        /**
         * Labels, of which a sample may have none or several.
         *
         * @param labels all of them, in order
         */
        record Labels(List<Tally> labels) implements Outcome {
            /** Copies the list. */
            public Labels {
                labels = List.copyOf(labels);
            }
        }

        /**
         * Numbers that are estimated.
         *
         * @param quantities the first of them; no more than {@link #MOST_QUANTITIES}
         * @param count how many there are
         */
        record Quantities(List<Quantity> quantities, int count) implements Outcome {
            /** Copies the list. */
            public Quantities {
                quantities = List.copyOf(quantities);
            }
        }

        /**
         * Answers to questions.
         *
         * @param exact as people gave them
         * @param partly with some words in common
         * @param wrong with none
         */
        record Answers(long exact, long partly, long wrong) implements Outcome {}

        /**
         * How alike the answers of two models are: of a smaller one, and of the original that it is to stand for.
         *
         * @param outputs all that they say
         */
        record Fidelity(List<Likeness> outputs) implements Outcome {
            /** Copies the list. */
            public Fidelity {
                outputs = List.copyOf(outputs);
            }

            /**
             * {@return the output whose {@link Likeness#figure() figure} has the least skill, for a model is as good as its worst output; empty if
             * nothing was compared}
             */
            public Optional<Likeness> weakest() {
                // What is not known counts for nothing where something is: NaN is above all numbers in this order.
                return outputs.stream()
                        .filter(output -> output.figure().isPresent())
                        .min(Comparator.comparingDouble(
                                output -> output.figure().orElseThrow().skill()));
            }

            /** {@return a sentence on what makes the smaller model unfit to stand in for its original; empty if it is fit} */
            public Optional<String> warning() {
                return warning("The small model");
            }

            /**
             * {@return a sentence on what makes a model unfit to stand in for its original; empty if it is fit}
             *
             * @param model what the sentence calls the model
             */
            public Optional<String> warning(String model) {
                Optional<Likeness> strange = outputs.stream()
                        .filter(output -> output.samples() == 0
                                && output.notFinite().smaller()
                                        > output.notFinite().original())
                        .findFirst();
                return strange.isPresent()
                        ? strange.map(output ->
                                "%s cannot stand in for the original: its output %s is not finite for any input."
                                        .formatted(model, output.output()))
                        : weakest().flatMap(output -> warning(model, output));
            }

            private static Optional<String> warning(String model, Likeness output) {
                return output.figure()
                        .filter(FidelityFigure::isPoor)
                        .map(figure -> String.format(
                                Locale.ROOT,
                                "%s cannot stand in for the original: the skill of its output %s is %s, below %.1f. Its %s is %s, and a model that always gives the same output has %s.",
                                model,
                                output.output(),
                                figure.skillInWords(),
                                FidelityFigure.MIN_SKILL,
                                figure.measure().words(),
                                figure.measure().write(figure.fidelity()),
                                figure.measure().write(figure.trivial())));
            }
        }

        /** A task that tells nothing but its scores. */
        record Unknown() implements Outcome {}
    }

    /**
     * How often a class, or a label, was right and said.
     *
     * @param name what it is called
     * @param trained samples of the training part that have it
     * @param tested samples of the test part that have it
     * @param said samples of the test part of which the model says so
     * @param right those of which both is true
     */
    public record Tally(String name, long trained, long tested, long said, long right) {
        /** {@return the share of those that have it that were found; NaN if none has it} */
        public double recall() {
            return (double) right / tested;
        }

        /** {@return the share of those it is said of that have it; NaN if it is said of none} */
        public double precision() {
            return (double) right / said;
        }
    }

    /**
     * How often one class is taken for another.
     *
     * @param truth what the samples are, as a place among the classes
     * @param said what the model says
     * @param count how many samples
     */
    public record Confusion(int truth, int said, long count) {}

    /**
     * Estimates of one number, in its own unit. An error is an estimate less the truth.
     *
     * @param name what it is called
     * @param bias the mean of all errors
     * @param median half of all errors are at most that large
     * @param large nine of ten errors are at most that large
     * @param errors how often they occur
     * @param truths of some samples, no more than {@link #MOST_POINTS}
     * @param estimates of the same samples
     */
    public record Quantity(
            String name,
            double bias,
            double median,
            double large,
            Histogram errors,
            List<Double> truths,
            List<Double> estimates) {
        /** Copies the lists. */
        public Quantity {
            truths = List.copyOf(truths);
            estimates = List.copyOf(estimates);
        }
    }

    /**
     * How often values lie where. The first and the last count also hold what lies beyond.
     *
     * @param from where the first stretch begins
     * @param width how long each is
     * @param counts how many values lie in each
     */
    public record Histogram(double from, double width, List<Long> counts) {
        /** Copies the list. */
        public Histogram {
            counts = List.copyOf(counts);
        }
    }

    /**
     * How alike one output of two models is. Where an output has positions that are padding, these are left out. What is not known of an
     * output of its kind, such as the agreement where there are no classes, is NaN.
     *
     * @param output what it is called
     * @param meaning what it means, in a word, such as {@code logits}
     * @param samples how many were compared
     * @param notFinite what was not, because not all of its numbers are finite
     * @param figures fidelities next to those of a trivial model, the one that tells most first; none if no sample was compared, or an earlier
     *     version wrote this
     * @param cosine between both answers to a sample; of tokens, between the means over the tokens of a sample
     * @param tokenCosine between both vectors of a token; of other outputs nothing
     * @param agreement the share of positions for which both say the same class; a sample without positions is one
     * @param wholeAgreement the share of samples for which they do so at every position
     * @param divergence the mean over all positions of the Kullback–Leibler divergence {@code Σ p·ln(p/q)}, where the original says p
     * @param explained R²: 1 less the sum of squared differences, as a share of the sum of squares of the original's numbers around the means of
     *     their columns
     * @param relativeError the root of the mean squared difference, as a share of the root of the original's mean square
     * @param largestDifference of two numbers
     * @param cosines how often they are how large
     * @param worst the samples that differ most, the worst first; no more than {@link #MOST_DEVIANTS}
     */
    public record Likeness(
            String output,
            String meaning,
            long samples,
            NotFinite notFinite,
            List<FidelityFigure> figures,
            Cosines cosine,
            Cosines tokenCosine,
            double agreement,
            double wholeAgreement,
            double divergence,
            double explained,
            double relativeError,
            double largestDifference,
            Histogram cosines,
            List<Deviant> worst) {
        /** Copies the lists. */
        public Likeness {
            figures = List.copyOf(Objects.requireNonNullElse(figures, List.of()));
            worst = List.copyOf(worst);
        }

        /** {@return the figure that tells most; empty if there is none} */
        public Optional<FidelityFigure> figure() {
            return figures.stream().findFirst();
        }
    }

    /**
     * Samples of which an answer holds numbers that are not finite.
     *
     * @param original how often the original's
     * @param smaller how often the smaller model's
     * @param rows the first of these samples, from 1; no more than {@link #MOST_DEVIANTS}
     */
    public record NotFinite(long original, long smaller, List<Long> rows) {
        /** Copies the list. */
        public NotFinite {
            rows = List.copyOf(rows);
        }
    }

    /**
     * Many cosines in short; NaN if there are none.
     *
     * @param mean their mean
     * @param median half of them are at least that
     * @param low 99 of 100 are at least that
     * @param least all are at least that
     */
    public record Cosines(double mean, double median, double low, double least) {
        /** Of nothing. */
        public static final Cosines NONE = new Cosines(Double.NaN, Double.NaN, Double.NaN, Double.NaN);
    }

    /**
     * A sample for which two models differ.
     *
     * @param row its place, from 1
     * @param cosine between both answers
     * @param difference the largest of two numbers
     * @param original what the original says, in words; empty if there are none for it
     * @param smaller what the smaller model says
     */
    public record Deviant(long row, double cosine, double difference, String original, String smaller) {}

    /**
     * A sample that a model gets wrong.
     *
     * @param row its place in the test part, from 1
     * @param inputs what there is to see of it
     * @param truth what the model should have said; empty if there are no words for it
     * @param said what it says; empty if there are no words for it
     * @param note how wrong that is, in words
     */
    public record Mistake(long row, List<Glimpse> inputs, String truth, String said, String note) {
        /** Copies the list. */
        public Mistake {
            inputs = List.copyOf(inputs);
        }
    }

    /** Something of a sample to look at. */
    @JsonTypeInfo(use = JsonTypeInfo.Id.NAME, property = "kind")
    @JsonSubTypes({
        @JsonSubTypes.Type(value = Glimpse.Words.class, name = "words"),
        @JsonSubTypes.Type(value = Glimpse.Picture.class, name = "picture")
    })
    public sealed interface Glimpse {
        /** {@return what it is of} */
        String name();

        /**
         * Words, or a number.
         *
         * @param name what it is of: the column
         * @param text what stands there
         */
        record Words(String name, String text) implements Glimpse {}

        /**
         * An image, made smaller if it was large.
         *
         * @param name what it is of
         * @param channels 1 for grey, 3 for red, green, blue; of others, the first is shown
         * @param height in pixels
         * @param width in pixels
         * @param pixels a byte each, channel by channel, each row by row
         */
        @SuppressWarnings("ArrayRecordComponent") // shown, never compared
        record Picture(String name, int channels, int height, int width, byte[] pixels) implements Glimpse {}
    }
}
