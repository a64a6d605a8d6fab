package dev.espalier.train.run;

import dev.espalier.core.prox.Regularizer;
import dev.espalier.core.step.ParameterSet;
import dev.espalier.core.tensor.TensorView;
import dev.espalier.graph.Graph;
import dev.espalier.graph.group.LayerGroups;
import dev.espalier.graph.group.ModelGroups;
import dev.espalier.graph.onnx.OnnxReader;
import dev.espalier.graph.type.Tensor;
import dev.espalier.train.journal.RunFolder;
import dev.espalier.train.recipe.PilotRecipe;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.stream.DoubleStream;

/**
 * What λ_g of each group is multiplied by, from the norms that the groups of another model have: the adaptive group lasso. With γ the
 * power,
 *
 * <pre>{@code
 * w_g = c / max(‖x_g‖, median/1000)^γ      c such that the mean over the groups that are not zero is 1
 * w_g = 1e30                               where x_g = 0: as good as infinite, and still a number in float32
 * }</pre>
 *
 * <p>The bound keeps a group that is all but zero from taking the whole mean.
 */
final class Pilot {
    private static final double ZERO = 1e30;
    private static final double LEAST_SHARE = 1e-3;

    private final PilotRecipe recipe;
    private final ModelGroups groups;

    /** From a layer's first parameter to the norms of its groups. */
    private final Map<String, double[]> norms = new LinkedHashMap<>();

    private final double least;
    private final double mean;

    /**
     * Reads the model.
     *
     * @param recipe which
     * @param groups the groups of the model that is trained
     */
    Pilot(PilotRecipe recipe, ModelGroups groups) {
        this.recipe = recipe;
        this.groups = groups;
        Graph graph = read(recipe.file());
        for (LayerGroups layer : groups.layers()) {
            norms.put(key(layer.parameters()), norms(layer, graph));
        }
        double[] living = living().sorted().toArray();
        if (living.length == 0) {
            throw new IllegalArgumentException(
                    "penalty.pilot = %s has no group that is not zero: name a model that has some, or leave it out"
                            .formatted(recipe.file()));
        }
        least = LEAST_SHARE * living[living.length / 2];
        mean = Arrays.stream(living).map(this::raw).average().orElseThrow();
    }

    private static Graph read(Path named) {
        Path file = Files.isDirectory(named) ? new RunFolder(named).model() : named;
        try {
            return OnnxReader.read(file).graph();
        } catch (IOException unread) {
            throw new UncheckedIOException(
                    "penalty.pilot = %s cannot be read: %s; it must be an ONNX file, or the folder of a run of one seed that has ended"
                            .formatted(named, unread.getMessage()),
                    unread);
        }
    }

    private static String key(List<String> parameters) {
        return parameters.getFirst();
    }

    private double[] norms(LayerGroups layer, Graph graph) {
        Map<String, TensorView> weights = new HashMap<>();
        for (int i = 0; i < layer.parameters().size(); i++) {
            String parameter = layer.parameters().get(i);
            Tensor tensor = graph.tensor(parameter);
            long wanted = layer.groups().tensorSizes().get(i);
            if (tensor == null || tensor.view().size() != wanted) {
                throw new IllegalArgumentException(
                        "penalty.pilot = %s does not fit: the groups of %s lie in %d weights, but there %s; it must be the same model, not pruned"
                                .formatted(
                                        recipe.file(),
                                        parameter,
                                        wanted,
                                        tensor == null
                                                ? "is no such tensor"
                                                : "are " + tensor.view().size()));
            }
            weights.put(parameter, tensor.view());
        }
        return layer.norms(weights);
    }

    private DoubleStream living() {
        return norms.values().stream().flatMapToDouble(Arrays::stream).filter(norm -> norm > 0);
    }

    private double raw(double norm) {
        return Math.pow(Math.max(norm, least), -recipe.power());
    }

    private double factor(double norm) {
        return norm == 0 ? ZERO : raw(norm) / mean;
    }

    /** The set with a factor for each of its groups. */
    ParameterSet weigh(ParameterSet set) {
        Regularizer regularizer = set.regularizer();
        if (regularizer == null) {
            return set;
        }
        double[] these =
                Objects.requireNonNull(norms.get(set.parameters().getFirst().name()), set::name);
        return set.withRegularizer(regularizer.withFactors(
                Arrays.stream(these).map(this::factor).boxed().toList()));
    }

    /** The groups that are zero, by their layer. */
    Map<LayerGroups, List<Integer>> zeros() {
        Map<LayerGroups, List<Integer>> zeros = new HashMap<>();
        for (LayerGroups layer : groups.layers()) {
            double[] these = Objects.requireNonNull(norms.get(key(layer.parameters())), layer::name);
            List<Integer> found = new ArrayList<>();
            for (int group = 0; group < these.length; group++) {
                if (these[group] == 0) {
                    found.add(group);
                }
            }
            zeros.put(layer, found);
        }
        return zeros;
    }

    /** What it comes to, in words. */
    String words() {
        long zero = zeros().values().stream().mapToLong(List::size).sum();
        return String.format(
                Locale.ROOT,
                "λ is weighed by the groups of %s, 1 on average: from %.3g to %.3g; %d of %d groups are zero there, and stay zero",
                recipe.file(),
                living().map(this::factor).min().orElseThrow(),
                living().map(this::factor).max().orElseThrow(),
                zero,
                groups.count());
    }
}
