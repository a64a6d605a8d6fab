package dev.espalier.report;

import dev.espalier.graph.Graph;
import dev.espalier.graph.GraphException;
import dev.espalier.graph.group.GroupRules;
import dev.espalier.graph.group.GroupedWeight;
import dev.espalier.graph.group.LayerGroups;
import dev.espalier.graph.group.ModelGroups;
import dev.espalier.graph.onnx.OnnxReader;
import dev.espalier.graph.prune.LayerPlan;
import dev.espalier.graph.prune.PruneOptions;
import dev.espalier.graph.prune.PrunePlan;
import dev.espalier.graph.prune.PruneReport;
import dev.espalier.graph.prune.Pruner;
import dev.espalier.graph.prune.SampleInputs;
import dev.espalier.train.task.EncodingNote;
import dev.espalier.train.task.RawInputs;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * What there is to see of a trained model.
 *
 * @param layers its layers, before and after; none if it cannot be pruned
 * @param patterns the patterns of its weights
 * @param groups number of groups, by the name of the layer's weights
 * @param columns the columns of the data that its first layers read; none if that cannot be told
 * @param problem why something is missing; empty if nothing is
 */
record ModelView(
        List<PruneReport.Layer> layers,
        List<LayerPattern> patterns,
        Map<String, Integer> groups,
        InputColumns columns,
        Optional<String> problem) {
    static final ModelView NONE = new ModelView(List.of(), List.of(), Map.of(), InputColumns.NONE, Optional.empty());

    /** All pictures together may have that many pixels, of half a byte each. */
    private static final long PIXELS = 1 << 21;

    private static final List<Integer> SIDES = List.of(256, 128, 64, 32);

    /** How long the longer side of a picture is on the screen, and how short the other one may be. */
    private static final int LONG_SIDE = 256;

    private static final int SHORT_SIDE = 24;

    /** A weight that is that many times wider than high gets twice the width. */
    private static final int WIDE = 4;

    /**
     * A weight to look at.
     *
     * @param name the weight's name
     * @param norms its norms
     * @param inputs number of its input channels
     * @param zeroInputs number of those that it does not listen to
     */
    record LayerPattern(String name, KernelNorms norms, int inputs, int zeroInputs) {}

    /** A model that cannot be read leaves a report without layers, but with everything else. */
    static ModelView read(Path file) {
        try {
            return of(OnnxReader.read(file).graph());
        } catch (IOException | GraphException unreadable) {
            return new ModelView(
                    List.of(),
                    List.of(),
                    Map.of(),
                    InputColumns.NONE,
                    Optional.of(file.getFileName() + " cannot be read: " + unreadable.getMessage()));
        }
    }

    private static ModelView of(Graph file) {
        Graph graph = RawInputs.without(file);
        List<LayerPattern> patterns = new ArrayList<>();
        Map<String, Integer> groups = new LinkedHashMap<>();
        ModelGroups.of(graph)
                .layers()
                .forEach(layer -> groups.put(layer.name(), layer.groups().count()));
        // A picture is of one weight's inputs, however these are grouped.
        for (LayerGroups layer : GroupRules.everything().derive(graph).layers()) {
            for (GroupedWeight weight : layer.weights()) {
                patterns.add(new LayerPattern(
                        weight.parameter(),
                        KernelNorms.of(Objects.requireNonNull(graph.tensor(weight.parameter())), weight.axis()),
                        layer.groups().count(),
                        layer.zeroGroups(graph)));
            }
        }
        try {
            PrunePlan plan = Pruner.plan(graph, PruneOptions.DEFAULT);
            PruneReport report = PruneReport.of(plan, SampleInputs.DEFAULT.dimensions(graph));
            return new ModelView(report.layers(), patterns, groups, columns(file, plan.apply()), Optional.empty());
        } catch (GraphException refused) {
            return new ModelView(
                    List.of(),
                    patterns,
                    groups,
                    InputColumns.NONE,
                    Optional.of("The model cannot be pruned: " + refused.getMessage()));
        }
    }

    private static InputColumns columns(Graph file, Graph pruned) {
        return EncodingNote.of(file)
                .flatMap(encoding -> RawInputs.names(file).map(names -> InputColumns.of(encoding, names, pruned)))
                .orElse(InputColumns.NONE);
    }

    Optional<Chart> bars() {
        if (layers.isEmpty()) {
            return Optional.empty();
        }
        long before =
                layers.stream().mapToLong(layer -> layer.plan().weightsBefore()).sum();
        long after =
                layers.stream().mapToLong(layer -> layer.plan().weightsAfter()).sum();
        return Optional.of(new Chart.Bars(
                "layers",
                "Weights of each layer",
                "Weights of each layer before and after pruning: %s of %s are kept"
                        .formatted(Numbers.count(after), Numbers.count(before)),
                layers.stream().map(layer -> layer.plan().name()).toList(),
                layers.stream().map(layer -> layer.plan().weightsBefore()).toList(),
                layers.stream().map(layer -> layer.plan().weightsAfter()).toList()));
    }

    Html table() {
        Table table = Table.of(
                "Layers before and after pruning",
                List.of("Layer", "Operator:", "Inputs", "Outputs", "Groups kept", "Weights", "Kept", "Why:"));
        for (PruneReport.Layer layer : layers) {
            LayerPlan plan = layer.plan();
            table.row(
                    plan.name(),
                    plan.operator(),
                    of(plan.inputsAfter(), plan.inputsBefore()),
                    of(plan.outputsAfter(), plan.outputsBefore()),
                    layer.groups() == 0 ? Numbers.NONE : of(layer.groupsLeft(), layer.groups()),
                    of(plan.weightsAfter(), plan.weightsBefore()),
                    Numbers.percent((double) plan.weightsAfter() / Math.max(plan.weightsBefore(), 1)),
                    plan.why());
        }
        return table.isEmpty() ? Html.EMPTY : table.toHtml();
    }

    private static Html of(long after, long before) {
        return after == before
                ? Html.of("{}", Numbers.count(after))
                : Html.of("{} <small>of {}</small>", Numbers.count(after), Numbers.count(before));
    }

    Html pictures() {
        int side = SIDES.stream()
                .filter(candidate -> patterns.stream()
                                .mapToLong(layer -> layer.norms().pixels(candidate))
                                .sum()
                        <= PIXELS)
                .findFirst()
                .orElse(SIDES.getLast());
        return Html.join(IntStream.range(0, patterns.size())
                .mapToObj(i -> picture(patterns.get(i), side))
                .toList());
    }

    private static Html picture(LayerPattern layer, int side) {
        KernelNorms norms = layer.norms();
        boolean wide = norms.columns() >= WIDE * norms.rows();
        int factor = wide ? 2 : 1;
        double scale = (double) factor * LONG_SIDE / Math.max(norms.rows(), norms.columns());
        long width = Math.max(Math.round(scale * norms.columns()), SHORT_SIDE);
        String inputs = layer.zeroInputs() == 0
                ? "no input is zero"
                : "%s of %s inputs are zero".formatted(layer.zeroInputs(), layer.inputs());
        return Html.of(
                "<figure class=\"{}\"><img src=\"{}\" width=\"{}\" style=\"aspect-ratio: {} / {}\" alt=\"{}\">"
                        + "<figcaption><b>{}</b> <span>{} out × {} in, {}</span></figcaption></figure>",
                wide ? "pattern wide" : "pattern",
                norms.picture(factor * side),
                width,
                width,
                Math.max(Math.round(scale * norms.rows()), SHORT_SIDE),
                "Norms of the kernels of %s, %d outputs by %d inputs: %s"
                        .formatted(layer.name(), norms.rows(), norms.columns(), inputs),
                layer.name(),
                norms.rows(),
                norms.columns(),
                inputs);
    }
}
