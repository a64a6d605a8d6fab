package dev.espalier.train.run;

import dev.espalier.graph.Graph;
import dev.espalier.graph.GraphException;
import dev.espalier.graph.group.LayerGroups;
import dev.espalier.graph.group.ModelGroups;
import dev.espalier.graph.prune.NarrowingGroups;
import dev.espalier.graph.prune.PruneReport;
import dev.espalier.graph.prune.SampleInputs;
import dev.espalier.train.recipe.TargetRecipe;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** The smallest that a model can become by its groups, which is known before it is trained. */
public final class SmallestModel {
    private SmallestModel() {}

    /**
     * Counts what is left with as few groups as possible.
     *
     * @param initial the model, whole
     * @param layers its layers that have groups
     * @return what is left with one group in each of these, or one for each head of an attention; empty if those alone do not hold
     *     together, which is no bound
     */
    public static Optional<PruneReport> of(Graph initial, List<LayerGroups> layers) {
        try {
            return Optional.of(NarrowingGroups.least(initial, layers, SampleInputs.DEFAULT.dimensions(initial)));
        } catch (GraphException _) {
            return Optional.empty();
        }
    }

    /**
     * Requires that a target can be reached.
     *
     * @param target the target
     * @param initial the model, whole
     * @param groups its groups
     * @throws IllegalArgumentException if more is left with one group in each layer
     */
    static void require(TargetRecipe target, Graph initial, ModelGroups groups) {
        if (target.isLatency()) {
            return; // that depends on the machine
        }
        Optional<PruneReport> found = of(initial, groups.layers());
        if (found.isEmpty()) {
            return;
        }
        PruneReport least = found.get();
        double kept = groups.layers().stream()
                .mapToInt(layer -> Math.min(layer.heads(), layer.groups().count()))
                .sum();
        double smallest = switch (target.kind()) {
            case "groups" -> kept / Math.max(groups.count(), 1);
            case "parameters" -> (double) least.parametersAfter() / Math.max(least.parametersBefore(), 1);
            default -> (double) least.flopsAfter() / Math.max(least.flopsBefore(), 1);
        };
        if (smallest > target.share()) {
            throw new IllegalArgumentException(String.format(
                    Locale.ROOT,
                    "target.share = %.3g cannot be reached: with one group left in each of the %d layers that have groups, %.1f %% of the %s is left; request more",
                    target.share(),
                    groups.layers().size(),
                    100 * smallest,
                    target.kind()));
        }
    }
}
