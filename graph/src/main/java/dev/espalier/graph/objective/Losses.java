package dev.espalier.graph.objective;

import dev.espalier.graph.Value;
import dev.espalier.graph.type.Tensor;
import java.util.List;

/** Losses that are often wanted: means over the samples of a batch, each with its formula. */
public final class Losses {
    /** Keeps quotients from being 0 / 0. */
    private static final double SMALLEST = 1e-24;

    private Losses() {}

    /**
     * {@code −ln softmax(logits)[label]}.
     *
     * @param formula what it is written with
     * @param logits {@code [batch, classes]}
     * @param labels {@code [batch]}, whole numbers from 0
     * @return the mean
     */
    public static Value crossEntropy(Formula formula, Value logits, Value labels) {
        return formula.negative(formula.mean(formula.pick(formula.logSoftmax(logits, -1), labels)));
    }

    /**
     * {@code −w[label] · ((1 − s) ln p[label] + s · mean_c ln p[c])} with {@code p = softmax(logits)}, divided by the mean of
     * {@code w[label]}: classes that weigh more, and a share {@code s} of belief that is spread over all classes.
     *
     * @param formula what it is written with
     * @param logits {@code [batch, classes]}
     * @param labels {@code [batch]}, whole numbers from 0
     * @param weights one for each class; none for equal ones
     * @param smoothing s, from 0 to below 1
     * @return the mean
     */
    public static Value crossEntropy(
            Formula formula, Value logits, Value labels, List<Double> weights, double smoothing) {
        if (weights.isEmpty() && smoothing == 0) {
            return crossEntropy(formula, logits, labels);
        }
        Value logarithms = formula.logSoftmax(logits, -1);
        Value terms = formula.pick(logarithms, labels);
        if (smoothing > 0) {
            long classes = logits.shape().get(1).value();
            Value spread = formula.times(formula.sum(logarithms, 1), formula.number(smoothing / classes));
            terms = formula.plus(formula.times(terms, formula.number(1 - smoothing)), spread);
        }
        if (weights.isEmpty()) {
            return formula.negative(formula.mean(terms));
        }
        Value weight = formula.take(weightTable(formula, weights), labels);
        return formula.negative(formula.divide(formula.mean(formula.times(weight, terms)), formula.mean(weight)));
    }

    private static Value weightTable(Formula formula, List<Double> weights) {
        float[] table = new float[weights.size()];
        for (int i = 0; i < table.length; i++) {
            table[i] = weights.get(i).floatValue();
        }
        return formula.constant(Tensor.of(table, table.length));
    }

    /**
     * {@code ln(1 + exp(x)) − t·x}, the cross entropy of {@code sigmoid(x)} and the truth t, for each of several labels that do
     * not exclude each other.
     *
     * @param formula what it is written with
     * @param logits {@code [batch, labels]}
     * @param truth {@code [batch, labels]}, 0 or 1
     * @param weights what a truth of 1 counts, for each label; none for 1
     * @return the mean
     */
    public static Value binaryCrossEntropy(Formula formula, Value logits, Value truth, List<Double> weights) {
        Value terms = formula.minus(formula.softplus(logits), formula.times(truth, logits));
        if (weights.isEmpty()) {
            return formula.mean(terms);
        }
        // A weight w of positives: 1 + (w − 1)·t
        Value more = formula.minus(weightTable(formula, weights), formula.number(1));
        Value weight = formula.plus(formula.times(truth, more), formula.number(1));
        return formula.mean(formula.times(weight, terms));
    }

    /**
     * How far the probabilities of classes are from those of a teacher: {@code T² · Σ_c q[c] (ln q[c] − ln p[c])} with
     * {@code p = softmax(logits / T)} and {@code q = softmax(teacher / T)}. The factor keeps gradients as large as those of a loss by
     * labels, whatever the temperature.
     *
     * @param formula what it is written with
     * @param logits {@code [batch, …, classes]}
     * @param teacher the teacher's, of the same shape
     * @param temperature T, above 0; a higher one makes classes count that the teacher holds for unlikely
     * @return the mean
     */
    public static Value divergence(Formula formula, Value logits, Value teacher, double temperature) {
        Value own = formula.logSoftmax(formula.divide(logits, formula.number(temperature)), -1);
        Value cooled = formula.divide(teacher, formula.number(temperature));
        Value difference = formula.minus(formula.logSoftmax(cooled, -1), own);
        Value distances = formula.sum(formula.times(formula.softmax(cooled, -1), difference), -1);
        return formula.times(formula.mean(distances), formula.number(temperature * temperature));
    }

    /**
     * The same for labels that do not exclude each other: {@code sigmoid} in place of {@code softmax}, and a divergence for each.
     *
     * @param formula what it is written with
     * @param logits {@code [batch, labels]}
     * @param teacher the teacher's, of the same shape
     * @param temperature T, above 0
     * @return the mean
     */
    public static Value binaryDivergence(Formula formula, Value logits, Value teacher, double temperature) {
        Value own = formula.divide(logits, formula.number(temperature));
        Value cooled = formula.divide(teacher, formula.number(temperature));
        Value truth = formula.sigmoid(cooled);
        Value distance = formula.minus(
                binaryCrossEntropy(formula, own, truth, List.of()),
                binaryCrossEntropy(formula, cooled, truth, List.of()));
        return formula.times(distance, formula.number(temperature * temperature));
    }

    /**
     * {@code error²}.
     *
     * @param formula what it is written with
     * @param error predictions less truths
     * @return the mean
     */
    public static Value squares(Formula formula, Value error) {
        return formula.mean(formula.square(error));
    }

    /**
     * {@code |error|}.
     *
     * @param formula what it is written with
     * @param error predictions less truths
     * @return the mean
     */
    public static Value absolutes(Formula formula, Value error) {
        return formula.mean(formula.absolute(error));
    }

    /**
     * Huber's: {@code error²/2} up to {@code |error| = δ}, and {@code δ(|error| − δ/2)} beyond.
     *
     * @param formula what it is written with
     * @param error predictions less truths
     * @param delta δ, above 0
     * @return the mean
     */
    public static Value huber(Formula formula, Value error, double delta) {
        // With a = min(|e|, δ): a·(|e| − a/2). a = |e| − max(0, |e| − δ) has the right slope everywhere.
        Value size = formula.absolute(error);
        Value near = formula.minus(size, formula.positivePart(formula.minus(size, formula.number(delta))));
        return formula.mean(formula.times(near, formula.minus(size, formula.times(near, formula.number(0.5)))));
    }

    /**
     * The pinball loss, whose minimiser is the quantile q.
     *
     * @param formula what it is written with
     * @param error predictions less truths
     * @param quantile q, above 0 and below 1
     * @return the mean
     */
    public static Value pinball(Formula formula, Value error, double quantile) {
        return formula.mean(tilted(formula, error, quantile));
    }

    /**
     * What the pinball loss is the mean of: {@code q·(−error)} where the prediction is too small, {@code (1 − q)·error} where it is
     * too large.
     *
     * @param formula what it is written with
     * @param error predictions less truths
     * @param quantile q, above 0 and below 1
     * @return one for each error
     */
    public static Value tilted(Formula formula, Value error, double quantile) {
        Value above = formula.times(formula.positivePart(error), formula.number(1 - quantile));
        Value below = formula.times(formula.positivePart(formula.negative(error)), formula.number(quantile));
        return formula.plus(above, below);
    }

    /**
     * The cosine of the angle between vectors, which lie along the last axis.
     *
     * @param formula what it is written with
     * @param left one
     * @param right the other, of the same shape
     * @return a number from −1 to 1 in place of each vector; 0 where one of the two is zero
     */
    public static Value cosines(Formula formula, Value left, Value right) {
        Value product = formula.sum(formula.times(left, right), -1);
        Value squares = formula.times(formula.sum(formula.square(left), -1), formula.sum(formula.square(right), -1));
        return formula.divide(product, formula.root(formula.plus(squares, formula.number(SMALLEST))));
    }
}
