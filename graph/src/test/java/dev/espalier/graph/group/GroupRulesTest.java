package dev.espalier.graph.group;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.core.group.AxisGroups;
import dev.espalier.core.group.Groups;
import dev.espalier.core.group.IndexGroups;
import dev.espalier.core.group.JointGroups;
import dev.espalier.core.group.NestedGroups;
import dev.espalier.core.penalty.GroupMcp;
import dev.espalier.core.penalty.NestedLasso;
import dev.espalier.core.schedule.LearningRate;
import dev.espalier.graph.Graph;
import dev.espalier.graph.GraphBuilder;
import dev.espalier.graph.Node;
import dev.espalier.graph.Value;
import dev.espalier.graph.model.Bert;
import dev.espalier.graph.model.BertConfig;
import dev.espalier.graph.model.ImageOptions;
import dev.espalier.graph.model.ResNet34;
import dev.espalier.graph.model.Vgg16;
import dev.espalier.graph.model.Weights;
import dev.espalier.graph.op.Conv;
import dev.espalier.graph.op.Elementwise.Unary;
import dev.espalier.graph.op.Gemm;
import dev.espalier.graph.op.MatMul;
import dev.espalier.graph.op.Recurrent;
import dev.espalier.graph.op.Reshape;
import dev.espalier.graph.op.Transpose;
import dev.espalier.graph.op.Windows;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.LongUnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class GroupRulesTest {
    private static final Weights ONES = (name, start, shape) -> Tensor.compute(DataType.FLOAT32, shape, i -> 1);
    private static final BertConfig TINY =
            new BertConfig(40, 16, 2, 2, 32, 12, 2, 1e-12, 0.1, 0.1, BertConfig.Activation.GELU);

    private static Tensor ones(long... shape) {
        return Tensor.compute(DataType.FLOAT32, shape, i -> 1);
    }

    private static LayerGroups only(Graph graph) {
        ModelGroups groups = GroupRules.everything().derive(graph);
        assertEquals(1, groups.layers().size());
        return groups.layers().getFirst();
    }

    /** Every weight must be in the group of the channel that, by definition, it is multiplied with. */
    private static void requireChannels(Groups groups, int channels, LongUnaryOperator channelOf) {
        long size = groups.tensorSizes().getFirst();
        assertEquals(channels, groups.count());
        int[] found = new int[(int) size];
        Arrays.fill(found, -1);
        for (int group = 0; group < groups.count(); group++) {
            int here = group;
            groups.forEach(group, (tensor, index) -> found[(int) index] = here);
        }
        for (int index = 0; index < size; index++) {
            assertEquals(channelOf.applyAsLong(index), found[index], "weight " + index);
        }
    }

    @ParameterizedTest
    @CsvSource({"1, 4, 3", "2, 3, 2", "3, 1, 2", "4, 2, 1", "5, 1, 1", "1, 1, 1"})
    void theGroupOfAConvolutionsWeightIsTheChannelThatItMeets(int parts, int out, int in) {
        GraphBuilder builder = new GraphBuilder("conv");
        Value image = builder.input("image", DataType.FLOAT32, "batch", parts * in, 8, 8);
        Value weight = builder.parameter("weight", ones((long) parts * out, in, 3, 2));
        Graph graph = builder.outputs(builder.add("conv", new Conv(Windows.square(1, 0), parts), image, weight));
        LayerGroups layer = only(graph);
        requireChannels(layer.groups(), parts * in, index -> {
            long filter = index / (in * 6L);
            long local = index / 6 % in;
            return filter / out * in + local;
        });
        boolean byIndex = parts > 1 && out > 1 && in > 1;
        assertEquals(byIndex, layer.groups() instanceof IndexGroups);
        assertEquals(1, layer.weights().getFirst().axis());
    }

    @ParameterizedTest
    @CsvSource({"false, false", "false, true", "true, false", "true, true"})
    void aGemmsWeightMayBeOnEitherSideAndTurned(boolean left, boolean turned) {
        // Five channels and three results: on the right a weight is [5, 3] unless turned, on the left [3, 5].
        boolean channelsFirst = left == turned;
        GraphBuilder builder = new GraphBuilder("gemm");
        builder.parameter("weight", channelsFirst ? ones(5, 3) : ones(3, 5));
        builder.input("input", DataType.FLOAT32, left ? 5 : 7, left ? 7 : 5);
        Gemm gemm = new Gemm(1, 1, left && turned, !left && turned);
        List<String> inputs = left ? List.of("weight", "input") : List.of("input", "weight");
        Node node = new Node("gemm", gemm, inputs, List.of("result"));
        Graph graph = builder.outputs(builder.addAll(node).getFirst());
        requireChannels(only(graph).groups(), 5, index -> channelsFirst ? index / 3 : index % 5);
    }

    @Test
    void aProductsWeightMayBeOnEitherSide() {
        GraphBuilder right = new GraphBuilder("right");
        Value x = right.input("x", DataType.FLOAT32, "batch", "tokens", 5);
        Graph graph = right.outputs(right.add("y", new MatMul(), x, right.parameter("weight", ones(5, 3))));
        requireChannels(only(graph).groups(), 5, index -> index / 3);
        assertEquals(0, only(graph).weights().getFirst().axis());

        GraphBuilder left = new GraphBuilder("left");
        Value z = left.input("z", DataType.FLOAT32, 5, 7);
        graph = left.outputs(left.add("y", new MatMul(), left.parameter("weight", ones(3, 5)), z));
        requireChannels(only(graph).groups(), 5, index -> index % 5);

        GraphBuilder many = new GraphBuilder("many");
        Value m = many.input("m", DataType.FLOAT32, 2, 7, 5);
        graph = many.outputs(many.add("y", new MatMul(), m, many.parameter("weight", ones(2, 5, 3))));
        requireChannels(only(graph).groups(), 5, index -> index / 3 % 5);

        GraphBuilder vector = new GraphBuilder("vector");
        Value v = vector.input("v", DataType.FLOAT32, 7, 5);
        graph = vector.outputs(vector.add("y", new MatMul(), v, vector.parameter("weight", ones(5))));
        requireChannels(only(graph).groups(), 5, index -> index);
    }

    @Test
    void aWeightIsFollowedThroughNodesThatOnlyTurnIt() {
        GraphBuilder builder = new GraphBuilder("turned");
        Value x = builder.input("x", DataType.FLOAT32, "batch", 5);
        Value same = builder.add("same", new Unary(Unary.Function.IDENTITY), builder.parameter("weight", ones(3, 5)));
        Value turned = builder.add("turned", new Transpose(List.of(1L, 0L)), same);
        Graph graph = builder.outputs(builder.add("y", new MatMul(), x, turned));
        requireChannels(only(graph).groups(), 5, index -> index % 5);
        assertEquals(1, only(graph).weights().getFirst().axis());
    }

    @Test
    void whatIsNotTrainedHasNoGroups() {
        GraphBuilder builder = new GraphBuilder("fixed");
        Value x = builder.input("x", DataType.FLOAT32, 5, 5);
        Value fixed = builder.add("fixed", new MatMul(), x, builder.constant("constant", ones(5, 5)));
        Value computed = builder.add("relu", new Unary(Unary.Function.RELU), builder.parameter("weight", ones(5, 5)));
        Value product = builder.add("computed", new MatMul(), fixed, computed);
        Graph graph = builder.outputs(builder.add("square", new MatMul(), product, product));
        assertEquals(List.of(), GroupRules.everything().derive(graph).layers());
        assertEquals(1, GroupRules.everything().derive(graph).groupsLeft(graph));
    }

    @Test
    void thePapersNetworksHaveThePapersGroups() {
        ModelGroups vgg = PaperRules.VGG16.derive(Vgg16.build(ImageOptions.CIFAR10, ONES));
        assertEquals(14, vgg.layers().size());
        assertEquals(4_227, vgg.count());
        ModelGroups resNet = PaperRules.RESNET34.derive(ResNet34.build(ImageOptions.CIFAR10, ONES));
        assertEquals(37, resNet.layers().size());
        assertEquals(8_067, resNet.count());
        ModelGroups bert = PaperRules.BERT.derive(Bert.questionAnswering(TINY, ONES));
        assertEquals(2 * 6 + 1, bert.layers().size());
        assertEquals(2 * (5 * 16 + 32) + 16, bert.count());
        assertEquals(83_712, 12 * (5 * 768 + 3072) + 768);
        assertTrue(bert.layers().stream().noneMatch(layer -> layer.name().contains("embeddings")));
    }

    @Test
    void queryKeyAndValueCanShareTheirGroups() {
        Graph graph = Bert.questionAnswering(TINY, ONES);
        ModelGroups groups = PaperRules.BERT.rules().joinConsumers().derive(graph);
        assertEquals(2 * (3 * 16 + 32) + 16, groups.count());
        LayerGroups first = groups.layers().getFirst();
        assertInstanceOf(JointGroups.class, first.groups());
        String self = "bert.encoder.layer.0.attention.self.";
        assertEquals(List.of(self + "query.weight", self + "key.weight", self + "value.weight"), first.parameters());
        assertEquals(3 * 16, first.groups().size(0));
        assertEquals(3, first.nodes().size());
        assertInstanceOf(AxisGroups.class, groups.layers().get(1).groups());
    }

    @Test
    void queryKeyAndValueCanBeATree() {
        Graph graph = Bert.questionAnswering(TINY, ONES);
        ModelGroups joined = PaperRules.BERT.rules().joinConsumers().derive(graph);
        ModelGroups groups = PaperRules.BERT.rules().nestConsumers().derive(graph);
        assertEquals(joined.count(), groups.count());
        LayerGroups first = groups.layers().getFirst();
        assertEquals(
                NestedGroups.ofParts((JointGroups) joined.layers().getFirst().groups()), first.groups());
        assertEquals(joined.layers().getFirst().parameters(), first.parameters());
        assertInstanceOf(AxisGroups.class, groups.layers().get(1).groups());
        LearningRate rate = LearningRate.constant(0.1);
        String problem = String.valueOf(assertThrows(
                        IllegalArgumentException.class,
                        () -> TrainingPlan.of(new GroupMcp(1, 2), rate).parameterSets(graph, groups))
                .getMessage());
        assertTrue(problem.contains("NestedLasso"), problem);
        assertEquals(
                TrainingPlan.dense(rate).parameterSets(graph, joined).size() - 2 * 2,
                TrainingPlan.of(new NestedLasso(1, 0.5), rate)
                        .parameterSets(graph, groups)
                        .size());
    }

    @Test
    void shortcutsShareTheirGroupsWithTheBlockTheyPass() {
        Graph graph = ResNet34.build(ImageOptions.CIFAR10, ONES);
        ModelGroups groups = PaperRules.RESNET34.rules().joinConsumers().derive(graph);
        assertEquals(8_067 - 64 - 128 - 256, groups.count());
        assertTrue(groups.layers().stream()
                .map(LayerGroups::parameters)
                .anyMatch(List.of("stages.1.0.conv1.weight", "stages.1.0.shortcut.conv.weight")::equals));
    }

    @Test
    void layersThatReadDifferentAxesOfATensorAreNotJoined() {
        GraphBuilder builder = new GraphBuilder("axes");
        Value x = builder.input("x", DataType.FLOAT32, 5, 5);
        Value right = builder.add("right", new MatMul(), x, builder.parameter("a", ones(5, 5)));
        Value left = builder.add("left", new MatMul(), builder.parameter("b", ones(5, 5)), x);
        Graph graph = builder.outputs(right, left);
        assertEquals(
                2,
                GroupRules.everything().joinConsumers().derive(graph).layers().size());
    }

    private static Graph shared(boolean sameAxis) {
        GraphBuilder builder = new GraphBuilder("shared");
        Value x = builder.input("x", DataType.FLOAT32, "batch", 4);
        Value weight = builder.parameter("weight", ones(4, 4));
        Value once = builder.add("once", new MatMul(), x, weight);
        Value twice = sameAxis
                ? builder.add("twice", new MatMul(), once, weight)
                : builder.add("twice", Gemm.LINEAR, once, weight);
        return builder.outputs(twice);
    }

    @Test
    void aSharedWeightIsCountedOnce() {
        ModelGroups groups = GroupRules.everything().joinConsumers().derive(shared(true));
        assertEquals(4, groups.count());
        assertEquals(
                List.of("once", "twice"),
                groups.layers().getFirst().nodes().stream().map(Node::name).toList());
        ModelGroups crossed = GroupRules.everything().derive(shared(false));
        assertEquals(4, crossed.count());
        assertEquals(
                List.of("once"),
                crossed.layers().getFirst().nodes().stream().map(Node::name).toList());
        assertEquals(
                0,
                GroupRules.everything()
                        .exclude(Selector.nodes("twice"))
                        .derive(shared(true))
                        .count());
    }

    @Test
    void theLastRuleThatPicksAWeightDecides() {
        Graph graph = Vgg16.build(ImageOptions.CIFAR10, ONES);
        GroupRules rules = GroupRules.everything();
        assertEquals(
                4_227 - 3,
                rules.exclude(Selector.nodes("features.0.conv")).derive(graph).count());
        assertEquals(
                4_227 - 512,
                rules.exclude(Selector.parameters("classifier.weight"))
                        .derive(graph)
                        .count());
        assertEquals(
                4_227 - 512,
                rules.exclude(Selector.operator(Gemm.class)).derive(graph).count());
        assertEquals(
                3 + 64,
                GroupRules.nothing()
                        .include(Selector.parametersMatching("features\\.[01]\\..*"))
                        .derive(graph)
                        .count());
        assertEquals(
                64,
                GroupRules.nothing()
                        .include(Selector.operator(Conv.class))
                        .exclude(Selector.nodesMatching(".*"))
                        .include(Selector.nodesMatching("features.1.conv"))
                        .derive(graph)
                        .count());
        assertEquals(
                3 + 512,
                GroupRules.nothing()
                        .include(Selector.nodes("features.0.conv").or(Selector.operator(Gemm.class)))
                        .derive(graph)
                        .count());
        assertEquals(4_227, rules.derive(graph).count());
    }

    @Test
    void aNameThatTheModelDoesNotHaveIsAnError() {
        Graph graph = shared(true);
        for (Selector wrong : List.of(
                Selector.nodes("onc"),
                Selector.parameters("weigth"),
                Selector.nothing().or(Selector.nodes("onc")))) {
            assertThrows(
                    IllegalArgumentException.class,
                    () -> GroupRules.everything().exclude(wrong).derive(graph));
        }
    }

    @Test
    void zeroGroupsAreCounted() {
        Graph graph = Bert.questionAnswering(TINY, ONES);
        // Input 3 of the first query, and inputs 3 and 7 of the first key; one weight of input 7 is left in the query.
        Tensor query = Tensor.compute(
                DataType.FLOAT32, new long[] {16, 16}, i -> i / 16 == 3 || (i / 16 == 7 && i % 16 != 9) ? 0 : 1);
        Tensor key = Tensor.compute(DataType.FLOAT16, new long[] {16, 16}, i -> i / 16 == 3 || i / 16 == 7 ? -0.0 : 1);
        String self = "bert.encoder.layer.0.attention.self.";
        Graph sparse = graph.withTensors(
                Map.of(self + "query.weight", query, self + "key.weight", key.cast(DataType.FLOAT32)));
        ModelGroups groups = PaperRules.BERT.derive(graph);
        assertEquals(0, groups.zeroGroups(graph));
        assertEquals(1, groups.groupsLeft(graph));
        assertEquals(3, groups.zeroGroups(sparse));
        assertEquals(1 - 3.0 / groups.count(), groups.groupsLeft(sparse), 1e-15);
        LayerGroups first = groups.layers().getFirst();
        assertEquals(self + "query.weight", first.name());
        assertTrue(first.zeros(sparse)[3]);
        assertFalse(first.zeros(sparse)[7]);
        assertEquals(0, PaperRules.BERT.rules().joinConsumers().derive(graph).zeroGroups(sparse));
        assertThrows(IllegalArgumentException.class, () -> groups.zeroGroups(shared(true)));
    }

    /** A recurrent layer over sequences of three numbers, with four units in each direction, and a matrix behind it. */
    private static GraphBuilder recurrent(Recurrent.Direction direction) {
        GraphBuilder builder = new GraphBuilder("recurrent");
        Recurrent gru = new Recurrent(Recurrent.Cell.GRU, direction, 4);
        long both = gru.directions();
        Value x = builder.input("x", DataType.FLOAT32, "time", "batch", 3);
        String fed = builder.parameter("fed", ones(both, 12, 3)).name();
        String back = builder.parameter("back", ones(both, 12, 4)).name();
        Value all = builder.addAll(new Node("gru", gru, List.of(x.name(), fed, back), List.of("all", "last")))
                .getFirst();
        Value turned = builder.add("turned", new Transpose(List.of(0L, 2L, 1L, 3L)), all);
        Value shape = builder.constant("shape", Tensor.of(new long[] {0, 0, 4 * both}));
        Value flat = builder.add("flat", Reshape.DEFAULT, turned, shape);
        builder.add("head", new MatMul(), flat, builder.parameter("head.weight", ones(4 * both, 2)));
        return builder;
    }

    @ParameterizedTest
    @EnumSource(Recurrent.Direction.class)
    void whatReadsAHiddenUnitIsOneGroup(Recurrent.Direction direction) {
        GraphBuilder builder = recurrent(direction);
        Graph model = builder.outputs(builder.value("head"));
        List<LayerGroups> layers = GroupRules.everything().derive(model).layers();
        assertEquals(
                List.of("fed", "back + head.weight"),
                layers.stream().map(LayerGroups::name).toList());
        assertEquals(3, layers.getFirst().groups().count());
        Groups units = layers.getLast().groups();
        assertEquals(4, units.count());
        int both = direction == Recurrent.Direction.BIDIRECTIONAL ? 2 : 1;
        assertEquals(both * (12 + 2), units.size(1));
        units.forEach(1, (tensor, index) -> assertEquals(1, (tensor == 0 ? index : index / 2) % 4));
    }

    @Test
    void aHiddenUnitThatSomethingElseReadsIsAGroupOfTheLayerAlone() {
        GraphBuilder builder = recurrent(Recurrent.Direction.FORWARD);
        Graph model = builder.outputs(builder.value("head"), builder.value("last"));
        assertEquals(
                List.of("fed", "back", "head.weight"),
                GroupRules.everything().derive(model).layers().stream()
                        .map(LayerGroups::name)
                        .toList());
        Graph whole = builder.outputs(builder.value("head"));
        assertEquals(
                List.of("fed", "back"),
                GroupRules.everything()
                        .exclude(Selector.parametersMatching("head.weight"))
                        .derive(whole)
                        .layers()
                        .stream()
                        .map(LayerGroups::name)
                        .toList());
    }
}
