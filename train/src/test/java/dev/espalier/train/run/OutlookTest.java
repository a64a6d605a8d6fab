package dev.espalier.train.run;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.core.numeric.Norm;
import dev.espalier.core.tensor.TensorView;
import dev.espalier.engine.Device;
import dev.espalier.engine.Network;
import dev.espalier.engine.Snapshot;
import dev.espalier.graph.Cost;
import dev.espalier.graph.Graph;
import dev.espalier.graph.Initializer.Kind;
import dev.espalier.graph.group.GroupRules;
import dev.espalier.graph.group.HeldZeros;
import dev.espalier.graph.group.LayerGroups;
import dev.espalier.graph.group.ModelGroups;
import dev.espalier.graph.model.Bert;
import dev.espalier.graph.model.BertConfig;
import dev.espalier.graph.model.ImageOptions;
import dev.espalier.graph.model.Initialization;
import dev.espalier.graph.model.ResNet34;
import dev.espalier.graph.model.Weights;
import dev.espalier.graph.objective.Objective;
import dev.espalier.graph.prune.GroupCosts;
import dev.espalier.graph.prune.PruneOptions;
import dev.espalier.graph.prune.PrunePlan;
import dev.espalier.graph.prune.PruneReport;
import dev.espalier.graph.prune.Pruner;
import dev.espalier.graph.prune.SampleInputs;
import dev.espalier.train.recipe.GroupCost;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Groups are chosen by what is told quickly while a model trains; the slow twins copy the model and look at all of it. */
class OutlookTest {
    private static final Objective SQUARES = formula -> Objective.terms(
            formula.mean(formula.square(formula.model(formula.outputs().getFirst()))));

    private static final BertConfig SMALL =
            new BertConfig(30, 16, 2, 2, 24, 16, 2, 1e-12, 0, 0, BertConfig.Activation.GELU);

    @Test
    void convolutionsAreChosenFromAsTheSlowWayDoes() {
        Graph model = ResNet34.build(ImageOptions.CIFAR10, 4, Initialization.Scheme.HE, Weights.seeded(1));
        check(model, GroupRules.everything().derive(model));
    }

    @Test
    void attentionsAreChosenFromAsTheSlowWayDoes() {
        Graph model = Bert.encoder(SMALL, Weights.seeded(1));
        check(model, GroupRules.everything().groupHeadDimensions().derive(model));
    }

    private static void check(Graph model, ModelGroups groups) {
        List<Map<LayerGroups, List<Integer>>> near;
        try (Network network = new Network(model, SQUARES, Device.CPU)) {
            near = choose(network, model, groups);
        }
        try (Network network = Network.outOfReach(model, SQUARES, Device.CPU)) {
            assertEquals(near, choose(network, model, groups));
        }
    }

    /** Chooses a few times, both ways. */
    private static List<Map<LayerGroups, List<Integer>>> choose(Network network, Graph model, ModelGroups groups) {
        List<Map<LayerGroups, List<Integer>>> all = new ArrayList<>();
        CostFactors costs = new CostFactors(GroupCost.PARAMETERS, model, groups, Optional.empty());
        Choice choice = new Choice(groups);
        HeldZeros held = new HeldZeros(groups);
        network.addGradients(SampleInputs.DEFAULT.draw(model), Map.of(), 1);
        for (int i = 0; i < 4; i++) {
            choice.look(network.products(choice.axes()).get(), Map.of(), Map.of());
            Snapshot snapshot = network.snapshot();
            Outlook outlook = Outlook.of(snapshot.graph());
            ZeroGroups zeros = ZeroGroups.of(groups, snapshot.weights(groups.parameters()));
            Map<String, Cost> left = outlook.byNode().orElseThrow();
            assertSlow(network.graph(), groups, outlook, zeros, left);
            assertEquals(i > 0, outlook.parametersLeft() < 1, "nothing went");
            double[] shares = costs.shares(zeros, left);
            Map<LayerGroups, List<Integer>> taken = choice.take(zeros, shares, 0.15);
            all.add(taken);
            held.hold(taken);
            network.hold(held.places());
            network.zeroHeld();
            assertZero(network, taken);
        }
        return all;
    }

    private static void assertSlow(
            Graph copy, ModelGroups groups, Outlook outlook, ZeroGroups zeros, Map<String, Cost> left) {
        Map<String, Long> dimensions = SampleInputs.DEFAULT.dimensions(copy);
        PrunePlan plan = Pruner.plan(copy, PruneOptions.DEFAULT);
        PruneReport report = PruneReport.of(plan, dimensions);
        assertEquals((double) report.parametersAfter() / report.parametersBefore(), outlook.parametersLeft());
        assertEquals((double) report.flopsAfter() / report.flopsBefore(), outlook.flopsLeft());
        assertEquals(GroupCosts.byNode(plan.apply(), dimensions), left);
        Map<String, TensorView> weights = views(copy);
        for (int i = 0; i < groups.layers().size(); i++) {
            assertArrayEquals(
                    slowZeros(groups.layers().get(i), weights), zeros.layers().get(i));
        }
        assertEquals(
                groups.layers().stream()
                        .map(layer -> layer.groups().count() - layer.zeroGroups(copy))
                        .toList(),
                IntStream.of(zeros.live()).boxed().toList());
    }

    private static Map<String, TensorView> views(Graph graph) {
        Map<String, TensorView> views = new HashMap<>();
        graph.tensors(Kind.PARAMETER).forEach((name, tensor) -> views.put(name, tensor.view()));
        return views;
    }

    private static boolean[] slowZeros(LayerGroups layer, Map<String, TensorView> weights) {
        List<TensorView> own = layer.parameters().stream()
                .map(name -> Objects.requireNonNull(weights.get(name), name))
                .toList();
        boolean[] zeros = new boolean[layer.groups().count()];
        for (int group = 0; group < zeros.length; group++) {
            zeros[group] = Norm.of(layer.groups().gather(group, own)) == 0;
        }
        return zeros;
    }

    private static void assertZero(Network network, Map<LayerGroups, List<Integer>> taken) {
        Map<String, TensorView> weights = views(network.graph());
        taken.forEach((layer, some) -> {
            boolean[] zeros = slowZeros(layer, weights);
            some.forEach(group -> assertTrue(zeros[group], layer.name() + " " + group));
        });
    }
}
