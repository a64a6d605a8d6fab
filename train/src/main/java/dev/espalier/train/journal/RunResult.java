package dev.espalier.train.journal;

import com.fasterxml.jackson.annotation.JsonAlias;
import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Objects;
import java.util.SequencedMap;

/**
 * What came out of a run: {@code result.json}, written last. A run without one is not finished.
 *
 * @param seed the run's seed
 * @param steps steps done
 * @param seconds spent on training
 * @param lambda λ of the last step that had a penalty; 0 if none had
 * @param loss mean loss of {@code model.onnx} on the test part
 * @param scores what {@code model.onnx} scores on the test part, in ONNX Runtime, if {@link Files#judged} does not say less; what
 *     counts most comes first
 * @param prunedScores what {@code pruned.onnx} scores there
 * @param groupsLeft share of groups that are not zero in {@code model.onnx}
 * @param prunedGroupsLeft share of the same groups that are not zero in {@code pruned.onnx}; NaN if an earlier version wrote
 *     this
 * @param parametersBefore number of trained weights
 * @param parametersAfter number of those that are left in {@code pruned.onnx}
 * @param flopsBefore floating point operations for one sample
 * @param flopsAfter those of {@code pruned.onnx}
 * @param maxAbsDifference largest difference between outputs of both models
 * @param latencyMillisecondsBefore how long ONNX Runtime takes for one sample, on one thread
 * @param latencyMillisecondsAfter how long with {@code pruned.onnx}
 * @param files what else there is to know of both files
 * @param models a model that was shrunk, next to what was made of it; none of other runs
 * @param size the size that was requested, next to what was reached
 */
public record RunResult(
        long seed,
        long steps,
        double seconds,
        double lambda,
        double loss,
        SequencedMap<Metric, Double> scores,
        SequencedMap<Metric, Double> prunedScores,
        @JsonAlias("group_sparsity") double groupsLeft,
        double prunedGroupsLeft,
        long parametersBefore,
        long parametersAfter,
        long flopsBefore,
        long flopsAfter,
        double maxAbsDifference,
        double latencyMillisecondsBefore,
        double latencyMillisecondsAfter,
        Files files,
        List<ModelRow> models,
        Size size) {

    /**
     * How much of the model was requested, and how much is left.
     *
     * @param of what is counted, as {@code target.kind} calls it
     * @param requested the share that was to be left
     * @param reached the share that is left; of latency, as it was measured
     */
    public record Size(String of, double requested, double reached) {
        /** Of a run without a target. */
        public static final Size NONE = new Size("none", Double.NaN, Double.NaN);

        private Size withLatency(double share) {
            return of.equals("latency") ? new Size(of, requested, share) : this;
        }
    }

    /**
     * The files of both models.
     *
     * @param bytesBefore how large {@code model.onnx} is
     * @param bytesAfter how large {@code pruned.onnx} is
     * @param threads a number of threads
     * @param millisecondsBefore how long ONNX Runtime takes for one sample on so many threads, with {@code model.onnx}
     * @param millisecondsAfter how long with {@code pruned.onnx}
     * @param judged samples of the test part that ONNX Runtime was asked about; 0 for all
     */
    public record Files(
            long bytesBefore,
            long bytesAfter,
            int threads,
            double millisecondsBefore,
            double millisecondsAfter,
            long judged) {
        /** Of a run by an earlier version, which did not tell. */
        public static final Files UNKNOWN = new Files(0, 0, 0, Double.NaN, Double.NaN, 0);

        /** {@return whether there is something to know} */
        @JsonIgnore
        public boolean isKnown() {
            return threads > 0;
        }
    }

    /** Copies the maps. */
    public RunResult {
        files = Objects.requireNonNullElse(files, Files.UNKNOWN); // an earlier version wrote none
        models = List.copyOf(Objects.requireNonNullElse(models, List.of())); // likewise
        size = Objects.requireNonNullElse(size, Size.NONE); // likewise
        scores = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(scores));
        prunedScores = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(prunedScores));
        if (scores.isEmpty()) {
            throw new IllegalArgumentException("a result without scores");
        }
    }

    /**
     * A result without a table of models.
     *
     * @param seed the run's seed
     * @param steps steps done
     * @param seconds spent on training
     * @param lambda λ of the last step that had a penalty
     * @param loss mean loss of {@code model.onnx} on the test part
     * @param scores what {@code model.onnx} scores there
     * @param prunedScores what {@code pruned.onnx} scores there
     * @param groupsLeft share of groups that are not zero in {@code model.onnx}
     * @param prunedGroupsLeft share of the same groups that are not zero in {@code pruned.onnx}
     * @param parametersBefore number of trained weights
     * @param parametersAfter number of those in {@code pruned.onnx}
     * @param flopsBefore floating point operations for one sample
     * @param flopsAfter those of {@code pruned.onnx}
     * @param maxAbsDifference largest difference between outputs of both models
     * @param latencyMillisecondsBefore time for one sample, on one thread
     * @param latencyMillisecondsAfter time with {@code pruned.onnx}
     * @param files what else there is to know of both files
     */
    public RunResult(
            long seed,
            long steps,
            double seconds,
            double lambda,
            double loss,
            SequencedMap<Metric, Double> scores,
            SequencedMap<Metric, Double> prunedScores,
            double groupsLeft,
            double prunedGroupsLeft,
            long parametersBefore,
            long parametersAfter,
            long flopsBefore,
            long flopsAfter,
            double maxAbsDifference,
            double latencyMillisecondsBefore,
            double latencyMillisecondsAfter,
            Files files) {
        this(
                seed,
                steps,
                seconds,
                lambda,
                loss,
                scores,
                prunedScores,
                groupsLeft,
                prunedGroupsLeft,
                parametersBefore,
                parametersAfter,
                flopsBefore,
                flopsAfter,
                maxAbsDifference,
                latencyMillisecondsBefore,
                latencyMillisecondsAfter,
                files,
                List.of(),
                Size.NONE);
    }

    /**
     * The same with other latencies.
     *
     * @param before how long ONNX Runtime takes with {@code model.onnx}, in milliseconds
     * @param after how long with {@code pruned.onnx}
     * @return the result
     */
    public RunResult withLatency(double before, double after) {
        return new RunResult(
                seed,
                steps,
                seconds,
                lambda,
                loss,
                scores,
                prunedScores,
                groupsLeft,
                prunedGroupsLeft,
                parametersBefore,
                parametersAfter,
                flopsBefore,
                flopsAfter,
                maxAbsDifference,
                before,
                after,
                files,
                models,
                size.withLatency(after / before));
    }

    /**
     * The same with a table of models.
     *
     * @param rows the original and what was made of it
     * @return the result
     */
    public RunResult withModels(List<ModelRow> rows) {
        return new RunResult(
                seed,
                steps,
                seconds,
                lambda,
                loss,
                scores,
                prunedScores,
                groupsLeft,
                prunedGroupsLeft,
                parametersBefore,
                parametersAfter,
                flopsBefore,
                flopsAfter,
                maxAbsDifference,
                latencyMillisecondsBefore,
                latencyMillisecondsAfter,
                files,
                rows,
                size);
    }

    /**
     * The same with the size that was requested.
     *
     * @param target what was requested, next to what was reached
     * @return the result
     */
    public RunResult withSize(Size target) {
        return new RunResult(
                seed,
                steps,
                seconds,
                lambda,
                loss,
                scores,
                prunedScores,
                groupsLeft,
                prunedGroupsLeft,
                parametersBefore,
                parametersAfter,
                flopsBefore,
                flopsAfter,
                maxAbsDifference,
                latencyMillisecondsBefore,
                latencyMillisecondsAfter,
                files,
                models,
                target);
    }

    /** {@return the models that cannot stand in for their original, as their rows say} */
    @JsonIgnore
    public List<ModelRow> unfit() {
        return models.stream().filter(model -> !model.warning().isEmpty()).toList();
    }

    /** {@return what counts most} */
    @JsonIgnore
    public Metric mainMetric() {
        return scores.firstEntry().getKey();
    }

    /** {@return all metrics that have a value here, with their units} */
    @JsonProperty(access = JsonProperty.Access.READ_ONLY)
    public List<Metric> metrics() {
        return List.copyOf(scores.keySet());
    }

    /**
     * The share of parameters that are left.
     *
     * @return from 0 to 1
     */
    public double parametersLeft() {
        return parametersBefore == 0 ? 1 : (double) parametersAfter / parametersBefore;
    }

    /**
     * The share of operations that are left.
     *
     * @return from 0 to 1
     */
    public double flopsLeft() {
        return flopsBefore == 0 ? 1 : (double) flopsAfter / flopsBefore;
    }

    /**
     * How many times faster the pruned model is.
     *
     * @return 1 for no difference
     */
    public double speedUp() {
        return latencyMillisecondsBefore / latencyMillisecondsAfter;
    }
}
