package dev.espalier.graph.prune;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.abort;

import dev.espalier.graph.Graph;
import dev.espalier.graph.eval.Evaluator;
import dev.espalier.graph.group.GroupRules;
import dev.espalier.graph.group.LayerGroups;
import dev.espalier.graph.model.ImageOptions;
import dev.espalier.graph.model.Initialization;
import dev.espalier.graph.model.Mlp;
import dev.espalier.graph.model.SmallCnn;
import dev.espalier.graph.model.Vgg16;
import dev.espalier.graph.model.Weights;
import dev.espalier.graph.onnx.OnnxReader;
import dev.espalier.graph.type.Tensor;
import java.io.IOException;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** Pruning the paper's VGG-16, the small builders, and what PyTorch exports. */
final class PrunedModelsTest {

    /** How many inputs of its thirteen convolutions and its linear layer training left alive. */
    private static final List<Integer> LIVE_INPUTS = List.of(3, 64, 64, 128, 126, 125, 86, 54, 25, 36, 39, 47, 35, 508);

    /** Nothing is zero that training would not leave so: a bias that is zero would hide what a dead channel still adds. */
    private static final Weights LIVELY = (name, start, shape) -> name.endsWith("running_var")
            ? Weights.seeded(5).tensor(name, Initialization.ONES, shape)
            : Weights.seeded(5).tensor(name, new Initialization.Uniform(0.5), shape);

    @Test
    void trainedPatternOfVgg16LeavesAboutATwentiethOfItsParameters() {
        Graph vgg = Vgg16.build(ImageOptions.CIFAR10, Weights.seeded(1));
        List<LayerGroups> layers = GroupRules.everything().derive(vgg).layers();
        assertEquals(LIVE_INPUTS.size(), layers.size());
        Map<String, Tensor> changed = new HashMap<>();
        for (int i = 0; i < layers.size(); i++) {
            int live = LIVE_INPUTS.get(i);
            zero(vgg, layers.get(i), group -> group >= live, changed);
        }
        Graph sparse = vgg.withTensors(changed);
        PrunePlan plan = Pruner.plan(sparse, PruneOptions.DEFAULT);
        PruneReport report = PruneReport.of(plan, SampleInputs.DEFAULT.dimensions(sparse));
        assertEquals(0.052, report.parametersLeft(), 0.0005);
        assertEquals(
                LIVE_INPUTS, plan.layers().stream().map(LayerPlan::inputsAfter).toList());
        assertFalse(Pruner.plan(plan.apply(), PruneOptions.DEFAULT).changes());
    }

    /** Sets groups of a layer to zero. */
    private static void zero(Graph graph, LayerGroups layer, IntPredicate dead, Map<String, Tensor> changed) {
        String parameter = layer.parameters().getFirst();
        Tensor tensor = Objects.requireNonNull(graph.tensor(parameter));
        float[] values = tensor.toFloats();
        int[] zeros = IntStream.range(0, layer.groups().count()).filter(dead).toArray();
        Arrays.stream(zeros).forEach(group -> layer.groups().forEach(group, (part, index) -> values[(int) index] = 0));
        // What is left carries the whole signal: otherwise it fades away, and any two models compute the same.
        float gain = (float)
                Math.sqrt((double) layer.groups().count() / (layer.groups().count() - zeros.length));
        for (int i = 0; i < values.length; i++) {
            values[i] *= gain;
        }
        changed.put(parameter, Tensor.compute(tensor.type(), tensor.shape(), i -> values[(int) i]));
    }

    @TestFactory
    Stream<DynamicTest> prunedExportsComputeTheSame() throws Exception {
        URL exports = PrunedModelsTest.class.getResource("/exports");
        return exports == null ? abort("there is no resource folder exports") : tests(Path.of(exports.toURI()));
    }

    /** Heads, and dimensions of heads, of what people export: separate matrices, one for all three, in several notations. */
    @TestFactory
    Stream<DynamicTest> exportsWithoutSomeHeadsComputeTheSame() throws Exception {
        URL exports = PrunedModelsTest.class.getResource("/exports");
        if (exports == null) {
            return abort("there is no resource folder exports");
        }
        GroupRules everything = GroupRules.everything();
        return Stream.of(
                        "bert-eager-ts-opset17-static",
                        "bert-qa-sdpa-dynamo-dynamic",
                        "distilbert-sdpa-ts-dynamic",
                        "block-ts-opset13-dynamic",
                        "vit-dynamo-opset21-dynamic")
                .flatMap(name -> Map.of(
                                "heads", everything.groupHeads(), "dimensions", everything.groupHeadDimensions())
                        .entrySet()
                        .stream()
                        .map(rules -> DynamicTest.dynamicTest(
                                name + " by " + rules.getKey(),
                                () -> checkAttention(
                                        OnnxReader.read(Path.of(exports.toURI()).resolve(name + ".onnx"))
                                                .graph(),
                                        rules.getValue()))));
    }

    private static void checkAttention(Graph model, GroupRules rules) {
        List<LayerGroups> attentions = rules.derive(model).layers().stream()
                .filter(layer -> layer.parameters().size() > 1)
                .toList();
        assertFalse(attentions.isEmpty(), "no attention was found");
        SplittableRandom random = new SplittableRandom(5);
        Map<String, Tensor> changed = new HashMap<>();
        for (LayerGroups layer : attentions) {
            boolean[] dead = new boolean[layer.groups().count()];
            for (int group = 1; group < dead.length; group++) {
                dead[group] = random.nextDouble() < 0.6;
            }
            dead[dead.length - 1] = true;
            for (int i = 0; i < layer.parameters().size(); i++) {
                int part = i;
                Tensor tensor =
                        Objects.requireNonNull(model.tensor(layer.parameters().get(i)));
                float[] values = tensor.toFloats();
                IntStream.range(0, dead.length)
                        .filter(group -> dead[group])
                        .forEach(group -> layer.groups().forEach(group, (own, index) -> {
                            if (own == part) {
                                values[(int) index] = 0;
                            }
                        }));
                changed.put(
                        layer.parameters().get(i),
                        Tensor.compute(tensor.type(), tensor.shape(), at -> values[(int) at]));
            }
        }
        Graph sparse = model.withTensors(changed);
        PrunePlan plan = Pruner.plan(sparse, PruneOptions.DEFAULT);
        assertTrue(plan.changes(), () -> "nothing was removed\n" + plan);
        Equivalence.measure(sparse, plan.apply(), new SampleInputs(2, 8, 3).draw(sparse), Evaluator::run)
                .requireEqual(Equivalence.TOLERANCE);
        assertFalse(Pruner.plan(plan.apply(), PruneOptions.DEFAULT).changes(), "it can be pruned again");
    }

    private static Stream<DynamicTest> tests(Path exports) throws IOException {
        try (Stream<Path> files = Files.list(exports)) {
            List<Path> models = files.filter(file -> file.toString().endsWith(".onnx"))
                    .sorted()
                    .toList();
            return models.stream()
                    .map(model -> DynamicTest.dynamicTest(
                            String.valueOf(model.getFileName()),
                            () -> check(OnnxReader.read(model).graph())));
        }
    }

    @TestFactory
    Stream<DynamicTest> prunedBuildersComputeTheSame() {
        ImageOptions images = new ImageOptions(4, 2, 9, 7);
        return Map.of(
                        "small-cnn", SmallCnn.build(images, List.of(6, 5, 8), true, LIVELY),
                        "small-cnn without norms", SmallCnn.build(images, List.of(6, 5, 8), false, LIVELY),
                        "mlp of vectors", Mlp.ofVectors(3, 10, List.of(12, 9), LIVELY),
                        "mlp of images", Mlp.ofImages(images, List.of(12), LIVELY))
                .entrySet()
                .stream()
                .map(entry -> DynamicTest.dynamicTest(entry.getKey(), () -> check(entry.getValue())));
    }

    private static void check(Graph model) {
        SplittableRandom random = new SplittableRandom(11);
        Map<String, Tensor> changed = new HashMap<>();
        for (LayerGroups layer : GroupRules.everything().derive(model).layers()) {
            // One input stays, or the output would be constant.
            int alive = random.nextInt(layer.groups().count());
            zero(model, layer, group -> group != alive && random.nextDouble() < 0.35, changed);
        }
        Graph sparse = model.withTensors(changed);
        PrunePlan plan = Pruner.plan(sparse, PruneOptions.DEFAULT);
        // Layers whose number of input channels is only known at run time are not in the plan.
        assertTrue(plan.changes() || plan.layers().isEmpty(), () -> "nothing was removed\n" + plan);
        Equivalence proof =
                Equivalence.measure(sparse, plan.apply(), new SampleInputs(2, 8, 3).draw(sparse), Evaluator::run);
        proof.requireEqual(Equivalence.TOLERANCE);
        assertTrue(proof.moves(), "the outputs do not depend on the inputs, so nothing is proved");
        assertFalse(Pruner.plan(plan.apply(), PruneOptions.DEFAULT).changes(), "it can be pruned again");
    }
}
