package dev.espalier.train.run;

import dev.espalier.graph.Cost;
import dev.espalier.graph.Graph;
import dev.espalier.graph.group.LayerGroups;
import dev.espalier.graph.group.ModelGroups;
import dev.espalier.graph.onnx.OnnxReader;
import dev.espalier.graph.prune.LayerPlan;
import dev.espalier.graph.prune.PruneOptions;
import dev.espalier.graph.prune.PrunePlan;
import dev.espalier.graph.prune.Pruner;
import dev.espalier.train.journal.RunFolder;
import dev.espalier.train.journal.RunResult;
import dev.espalier.train.task.RawInputs;
import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** What one should know first of a run that did not do what it was for: that nothing was pruned, or that it was for nothing. */
public final class Verdict {
    /** A model is slower if it takes so many times as long: clocks are not more exact. */
    private static final double SLOWER = 1.05;

    /** How many layers are named. */
    private static final int MOST = 8;

    private Verdict() {}

    /**
     * Looks at a finished run.
     *
     * @param run the run's folder
     * @param result what came out
     * @return sentences that say what is wrong, in which layers, and what to change; none if the pruned model is smaller and not
     *     slower, or nothing was to be pruned
     * @throws IOException if the trained model cannot be read
     */
    public static List<String> of(RunFolder run, RunResult result) throws IOException {
        boolean pruned = result.parametersAfter() < result.parametersBefore();
        boolean slower = result.latencyMillisecondsAfter() > SLOWER * result.latencyMillisecondsBefore();
        if (result.lambda() == 0 || (pruned && !slower) || !Files.exists(run.model())) {
            return List.of();
        }
        Graph model = OnnxReader.read(run.model()).graph();
        if (pruned) {
            return List.of(slower(model, result));
        }
        PrunePlan plan = Pruner.plan(RawInputs.without(model), PruneOptions.DEFAULT);
        return List.of(plan.changes() ? uncut(plan) : nothing(model, result));
    }

    private static String uncut(PrunePlan plan) {
        return String.format(
                Locale.ROOT,
                "Nothing was pruned, for no cut is faster here: pruned.onnx is the model as it was trained. All that can go leaves %,d of %,d parameters: training.prune_for = \"size\", or prune --for size.",
                Cost.parameters(plan.apply()),
                Cost.parameters(plan.reference()));
    }

    private static String nothing(Graph model, RunResult result) {
        List<LayerGroups> layers = ModelGroups.of(model).layers();
        List<String> zeros = new ArrayList<>();
        for (LayerGroups layer : layers) {
            int zero = layer.zeroGroups(model);
            if (zero > 0) {
                zeros.add("%s (%d of %d)"
                        .formatted(layer.name(), zero, layer.groups().count()));
            }
        }
        return String.format(
                Locale.ROOT,
                "Nothing was pruned: %s. Raise penalty.lambda (%.3g in the end), or leave it out and say how much shall be left, as with --keep 30%%.",
                zeros.isEmpty()
                        ? "no group is zero in any of "
                                + some(layers.stream().map(LayerGroups::name).toList())
                        : "groups are zero in " + some(zeros) + ", but no channel could go for that",
                result.lambda());
    }

    private static String slower(Graph model, RunResult result) {
        List<String> narrower = Pruner.plan(model, PruneOptions.DEFAULT).layers().stream()
                .filter(LayerPlan::changes)
                .map(layer -> "%s (%d → %d inputs, %d → %d outputs)"
                        .formatted(
                                layer.name(),
                                layer.inputsBefore(),
                                layer.inputsAfter(),
                                layer.outputsBefore(),
                                layer.outputsAfter()))
                .toList();
        return String.format(
                Locale.ROOT,
                "The pruned model is slower: %.3g ms instead of %.3g ms. Changed were %s. Odd widths can cost more than they save: try prune --for latency, or a stronger penalty.",
                result.latencyMillisecondsAfter(),
                result.latencyMillisecondsBefore(),
                some(narrower));
    }

    /** Names of layers, the first few of many. */
    static String some(List<String> layers) {
        String named = layers.stream().limit(MOST).collect(Collectors.joining(", "));
        return layers.size() <= MOST ? named : named + " and %d more layers".formatted(layers.size() - MOST);
    }
}
