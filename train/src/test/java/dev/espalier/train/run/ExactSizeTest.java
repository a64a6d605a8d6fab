package dev.espalier.train.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.graph.Graph;
import dev.espalier.graph.group.GroupRules;
import dev.espalier.graph.group.LayerGroups;
import dev.espalier.graph.group.ModelGroups;
import dev.espalier.graph.model.Bert;
import dev.espalier.graph.model.BertConfig;
import dev.espalier.graph.model.ImageOptions;
import dev.espalier.graph.model.Initialization;
import dev.espalier.graph.model.Mlp;
import dev.espalier.graph.model.ResNet34;
import dev.espalier.graph.model.Weights;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Groups go in an order of chance; whatever that is, the size is met. */
final class ExactSizeTest {
    private static List<GroupSlice> order(ModelGroups groups, Random random) {
        List<GroupSlice> order = new ArrayList<>();
        for (LayerGroups layer : groups.layers()) {
            double[] worth = random.doubles(layer.groups().count()).toArray();
            List<GroupSlice> slices = GroupSlice.of(layer, _ -> true, worth, 1);
            order.addAll(slices.subList(0, slices.size() - 1));
        }
        Collections.shuffle(order, random);
        return order;
    }

    private static ToDoubleFunction<List<GroupSlice>> parameters(Graph model) {
        return gone -> gone.isEmpty()
                ? 1
                : Outlook.without(model, GroupSlice.groups(gone)).parametersLeft();
    }

    private static void assertMet(Graph model, ModelGroups groups, double near) {
        Random random = new Random(1);
        for (double target : new double[] {0.8, 0.55, 0.3}) {
            ExactSize.Chosen chosen = new ExactSize(parameters(model), target).choose(order(groups, random));
            assertEquals(target, chosen.left(), near, "target " + target);
            assertTrue(chosen.left() <= target, "more than requested");
            assertEquals(chosen.left(), parameters(model).applyAsDouble(chosen.gone()), 0);
        }
    }

    /** A neuron is 1.4 % of it. */
    @Test
    void aPerceptronIsAsSmallAsRequested() {
        Graph model = Mlp.ofVectors(3, 20, List.of(32, 24), Weights.seeded(1));
        assertMet(model, GroupRules.everything().derive(model), 0.014);
    }

    @Test
    void aResidualNetworkIsAsSmallAsRequested() {
        Graph model = ResNet34.build(ImageOptions.CIFAR10, 4, Initialization.Scheme.HE, Weights.seeded(1));
        assertMet(model, GroupRules.everything().derive(model), 0.01);
    }

    @Test
    void whereNotEnoughMayGoAllGoes() {
        Graph model = Mlp.ofVectors(3, 20, List.of(32), Weights.seeded(1));
        List<GroupSlice> order = order(GroupRules.everything().derive(model), new Random(1));
        assertEquals(
                order.size(),
                new ExactSize(parameters(model), 0.001).choose(order).gone().size());
    }

    /** Of dimensions of heads one of each goes at a time, and one of each stays. */
    @Test
    void headsLoseAsManyDimensions() {
        BertConfig config = new BertConfig(30, 16, 1, 2, 24, 16, 2, 1e-12, 0, 0, BertConfig.Activation.GELU);
        Graph model = Bert.encoder(config, Weights.seeded(1));
        LayerGroups heads = GroupRules.everything().groupHeadDimensions().derive(model).layers().stream()
                .filter(layer -> layer.heads() == 2)
                .findFirst()
                .orElseThrow();
        double[] worth = new Random(1).doubles(heads.groups().count()).toArray();
        List<GroupSlice> slices = GroupSlice.of(heads, _ -> true, worth, 1);
        int width = heads.groups().count() / 2;
        assertEquals(width, slices.size());
        for (GroupSlice slice : slices) {
            assertEquals(
                    List.of(0, 1),
                    slice.groups().stream().map(group -> group / width).sorted().toList());
        }
        assertEquals(
                IntStream.range(0, 2 * width).boxed().toList(),
                slices.stream()
                        .flatMap(slice -> slice.groups().stream())
                        .sorted()
                        .toList());
        double[] least = slices.stream().mapToDouble(GroupSlice::perCost).toArray();
        double[] sorted = least.clone();
        Arrays.sort(sorted);
        assertEquals(Arrays.toString(sorted), Arrays.toString(least));
    }
}
