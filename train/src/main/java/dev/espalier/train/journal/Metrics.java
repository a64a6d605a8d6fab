package dev.espalier.train.journal;

import com.fasterxml.jackson.annotation.JsonAlias;
import com.fasterxml.jackson.annotation.JsonSetter;
import com.fasterxml.jackson.annotation.Nulls;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.SequencedMap;

/**
 * How a training stands when the model is evaluated: one line of {@code metrics.jsonl}.
 *
 * @param step steps done
 * @param epoch epochs done, of all phases
 * @param phase what is being done: {@code warm-up}, {@code sparsify} or {@code heal}; {@code train} for a baseline
 * @param seconds since the training began, pauses between a stop and a resumption left out
 * @param samplesPerSecond training samples, evaluation left out
 * @param learningRate α of the last step
 * @param lambda λ of the last step; 0 without a penalty
 * @param trainLoss mean loss of the steps since the last evaluation, penalty left out
 * @param trainMetric what is counted as right in training: {@code accuracy}, say
 * @param trainScore share of their samples that were right, before each step
 * @param penalty the penalty's value after the last step
 * @param loss mean loss of the evaluation
 * @param scores what the evaluation found, from 0 to 1: {@code accuracy}, say; what counts most comes first
 * @param groupsLeft share of groups that are not zero
 * @param iterationsPerGroup evaluations that the solver spent on a group, mean over the steps since the last evaluation
 * @param skippedSteps steps that were left out because a gradient was not finite
 * @param nonZeroGroups number of groups that are not zero, by layer
 * @param data what was measured of the data before the training began, by name: {@code unknown_tokens_train}, say
 */
public record Metrics(
        long step,
        double epoch,
        String phase,
        double seconds,
        double samplesPerSecond,
        double learningRate,
        double lambda,
        double trainLoss,
        @JsonSetter(nulls = Nulls.AS_EMPTY) String trainMetric,
        @JsonAlias("train_accuracy") double trainScore,
        double penalty,
        double loss,
        SequencedMap<String, Double> scores,
        @JsonAlias("group_sparsity") double groupsLeft,
        double iterationsPerGroup,
        long skippedSteps,
        SequencedMap<String, Integer> nonZeroGroups,
        SequencedMap<String, Double> data) {

    /** What is counted if a line does not say: it is of a version that knew nothing else. */
    private static final String ACCURACY = "accuracy";

    /** Copies the maps. */
    public Metrics {
        trainMetric = trainMetric.isEmpty() ? ACCURACY : trainMetric;
        scores = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(scores));
        nonZeroGroups = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(nonZeroGroups));
        data = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(data));
    }
}
