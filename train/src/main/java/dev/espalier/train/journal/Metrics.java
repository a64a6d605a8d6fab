package dev.espalier.train.journal;

import com.fasterxml.jackson.annotation.JsonAlias;
import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Objects;
import java.util.SequencedMap;
import java.util.stream.Stream;

/**
 * How a training stands when the model is evaluated: one line of {@code metrics.jsonl}.
 *
 * @param step steps done
 * @param epoch epochs done, of all phases; 0 for a model that could do its task before it was trained
 * @param phase what is being done: {@code warm-up}, {@code sparsify} or {@code heal}; {@code train} for a baseline, {@link #BEFORE} in
 *     epoch 0
 * @param seconds since the training began, pauses between a stop and a resumption left out
 * @param samplesPerSecond training samples, evaluation left out
 * @param learningRate α of the last step
 * @param lambda λ of the last step; 0 without a penalty
 * @param trainLoss mean loss of the steps since the last evaluation, penalty left out; NaN in epoch 0
 * @param trainScores what was measured of their samples, before each step; what counts most comes first
 * @param penalty the penalty's value after the last step
 * @param loss mean loss of the evaluation
 * @param scores what the evaluation measured; what counts most comes first
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
        SequencedMap<Metric, Double> trainScores,
        double penalty,
        double loss,
        SequencedMap<Metric, Double> scores,
        @JsonAlias("group_sparsity") double groupsLeft,
        double iterationsPerGroup,
        long skippedSteps,
        SequencedMap<String, Integer> nonZeroGroups,
        SequencedMap<String, Double> data) {

    /** What the phase of epoch 0 is called. */
    public static final String BEFORE = "before";

    /** Copies the maps. */
    public Metrics {
        if (nonZeroGroups.values().stream().anyMatch(Objects::isNull)) { // of a file that was changed
            throw new IllegalArgumentException("non_zero_groups has " + nonZeroGroups + ": they must be whole numbers");
        }
        trainScores = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(trainScores));
        scores = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(scores));
        nonZeroGroups = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(nonZeroGroups));
        data = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(data));
    }

    /** {@return all metrics that have a value here, with their units} */
    @JsonProperty(access = JsonProperty.Access.READ_ONLY)
    public List<Metric> metrics() {
        return Stream.concat(scores.keySet().stream(), trainScores.keySet().stream())
                .distinct()
                .toList();
    }
}
