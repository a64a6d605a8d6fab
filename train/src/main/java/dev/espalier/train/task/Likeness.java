package dev.espalier.train.task;

import dev.espalier.graph.Value;
import dev.espalier.graph.objective.Formula;
import dev.espalier.graph.objective.Losses;
import dev.espalier.graph.op.Unsqueeze;
import dev.espalier.graph.type.DataType;
import dev.espalier.train.journal.Metric;
import java.util.List;

/**
 * How far a tensor of a model is from the same tensor of its original: as a loss, and as a number for each sample that people
 * understand.
 *
 * @param tensor its name, in both
 * @param meaning what it is
 * @param spread the variance of the original's numbers, from sample to sample: what differences are measured by
 * @param weight how much it counts in the loss
 * @param temperature what logits are divided by before they are compared
 */
record Likeness(String tensor, OutputMeaning meaning, double spread, double weight, double temperature) {
    /** How often both hold the same class for the likeliest. */
    static final Metric AGREEMENT = Metric.share("agreement");

    /** The cosine of the angle between both vectors. */
    static final Metric COSINE = new Metric("cosine", Metric.Unit.NUMBER, Metric.Direction.HIGHER);

    /** How much of the original's variance is met; 1 is all. */
    static final Metric R2 = new Metric("r2", Metric.Unit.NUMBER, Metric.Direction.HIGHER);

    /** Keeps logarithms of probabilities finite. */
    private static final double SMALLEST = 1e-12;

    /** {@return what people are told} */
    Metric metric() {
        return switch (meaning) {
            case OutputMeaning.Classes _ -> AGREEMENT;
            case OutputMeaning.Embedding _, OutputMeaning.Tokens _ -> COSINE;
            case OutputMeaning.Scores _, OutputMeaning.Numbers _ -> R2;
        };
    }

    /** {@return in words, for notes} */
    String words() {
        return switch (meaning) {
            case OutputMeaning.Classes(boolean probabilities) ->
                "%s of classes, by their divergence at a temperature of %s"
                        .formatted(probabilities ? "probabilities" : "logits", temperature);
            case OutputMeaning.Embedding _ -> "a vector, by its cosine and its squared distance";
            case OutputMeaning.Tokens(String mask) ->
                "vectors of tokens, where %s is not 0, by the cosine of their mean and by squared distances"
                        .formatted(mask);
            case OutputMeaning.Scores _ -> "scores, by squared distances";
            case OutputMeaning.Numbers _ -> "numbers, by squared distances";
        };
    }

    /** The loss, and the sum of the metric's values over the samples of a batch. */
    record Terms(Value loss, Value sum) {}

    Terms write(Formula formula, Value student, Value original) {
        return switch (meaning) {
            case OutputMeaning.Classes(boolean probabilities) -> {
                Value own = probabilities ? logarithm(formula, student) : student;
                Value taught = probabilities ? logarithm(formula, original) : original;
                Value same = formula.equal(formula.argMax(own), formula.argMax(taught));
                yield terms(
                        formula,
                        Losses.divergence(formula, own, taught, temperature),
                        formula.sum(formula.meanOfEach(same)));
            }
            case OutputMeaning.Embedding _ -> {
                Value cosines = formula.meanOfEach(Losses.cosines(formula, student, original));
                Value squares = formula.mean(formula.square(formula.minus(student, original)));
                yield terms(formula, angle(formula, cosines, squares), formula.sum(cosines));
            }
            case OutputMeaning.Tokens(String mask) -> {
                Value present =
                        formula.apply(new Unsqueeze(List.of(2L)), formula.cast(formula.model(mask), DataType.FLOAT32));
                Value cosines = Losses.cosines(
                        formula,
                        formula.sum(formula.times(student, present), 1),
                        formula.sum(formula.times(original, present), 1));
                Value squares = formula.times(formula.square(formula.minus(student, original)), present);
                Value numbers = formula.times(formula.sum(present), formula.number((double)
                        student.shape().get(2).value()));
                yield terms(
                        formula,
                        angle(formula, cosines, formula.divide(formula.sum(squares), numbers)),
                        formula.sum(cosines));
            }
            case OutputMeaning.Scores _, OutputMeaning.Numbers _ -> {
                Value squares = formula.divide(
                        formula.meanOfEach(formula.square(formula.minus(student, original))), formula.number(spread));
                Value met = formula.minus(formula.number(1), squares);
                yield terms(formula, formula.mean(squares), formula.sum(met));
            }
        };
    }

    /** What is normalised has a squared distance of {@code 2 − 2·cosine}; what is not has a length that counts too. */
    private Value angle(Formula formula, Value cosines, Value squares) {
        return formula.plus(
                formula.minus(formula.number(1), formula.mean(cosines)),
                formula.divide(squares, formula.number(spread)));
    }

    private Terms terms(Formula formula, Value loss, Value sum) {
        return new Terms(formula.times(loss, formula.number(weight)), sum);
    }

    private static Value logarithm(Formula formula, Value probabilities) {
        return formula.logarithm(formula.plus(probabilities, formula.number(SMALLEST)));
    }
}
