package dev.espalier.graph.prune;

import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.graph.Cost;
import dev.espalier.graph.Graph;
import dev.espalier.graph.Graph.Use;
import dev.espalier.graph.GraphException;
import dev.espalier.graph.GraphPrinter;
import dev.espalier.graph.Initializer.Kind;
import dev.espalier.graph.Node;
import dev.espalier.graph.eval.Evaluator;
import dev.espalier.graph.op.Binary;
import dev.espalier.graph.op.Conv;
import dev.espalier.graph.op.Gemm;
import dev.espalier.graph.op.MatMul;
import dev.espalier.graph.prune.Widths.Selections;
import dev.espalier.graph.type.Tensor;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Pruning hundreds of random models: the same function, nothing superfluous left, nothing more to prune. */
final class PrunerTest {
    private static final double TOLERANCE = 1e-5;

    private record Model(String name, Graph graph, Map<String, Tensor> inputs) {

        static Model of(String kind, long seed, boolean smooth) {
            RandomModels models = new RandomModels(seed, smooth);
            boolean images = kind.equals("images");
            Graph graph = switch (kind) {
                case "images" -> models.imageModel();
                case "tokens" -> models.tokenModel();
                case "dynamic" -> models.dynamicModel();
                default -> throw new IllegalArgumentException(kind);
            };
            Tensor input = images ? models.input(2, 3, 6, 6) : models.input(2, 4, 5);
            return new Model(
                    kind + " of seed " + seed,
                    graph,
                    Map.of(graph.inputs().getFirst().name(), input));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"images", "tokens", "dynamic"})
    void prunedModelsComputeTheSameFunctionAndCannotBePrunedAgain(String kind) {
        int smaller = 0;
        for (int seed = 0; seed < 300; seed++) {
            Model model = Model.of(kind, seed, false);
            try {
                Graph pruned = Pruner.plan(model.graph(), PruneOptions.DEFAULT).apply();
                Equivalence.measure(model.graph(), pruned, model.inputs(), Evaluator::run)
                        .requireEqual(TOLERANCE);
                assertTrue(Cost.parameters(pruned) <= Cost.parameters(model.graph()));
                assertSame(pruned, Pruner.plan(pruned, PruneOptions.DEFAULT).apply());
                smaller += Cost.parameters(pruned) < Cost.parameters(model.graph()) ? 1 : 0;
            } catch (GraphException refused) {
                if (!String.valueOf(refused.getMessage()).contains("carries only constants")) {
                    throw failure(model, refused);
                }
            } catch (RuntimeException | AssertionError failure) {
                throw failure(model, failure);
            }
        }
        assertTrue(smaller > 180, "only " + smaller + " models became smaller");
    }

    private static AssertionError failure(Model model, Throwable cause) {
        return new AssertionError(model.name() + "\n" + GraphPrinter.table(model.graph()), cause);
    }

    @ParameterizedTest
    @CsvSource({
        "images, 4, 4, ALL",
        "images, 1, 1, NONE",
        "images, 4, 1, NONE",
        "images, 8, 4, WORTHWHILE",
        "tokens, 4, 4, ALL",
        "tokens, 1, 4, NONE",
        "tokens, 1, 1, WORTHWHILE",
        "dynamic, 4, 4, ALL",
        "dynamic, 1, 1, NONE",
    })
    void modelsOfAllWidthsComputeTheSameFunction(String kind, int convolutions, int products, Selections selections) {
        PruneOptions options = PruneOptions.DEFAULT.withWidths(new Widths(convolutions, products, selections));
        for (int seed = 0; seed < 60; seed++) {
            Model model = Model.of(kind, seed, false);
            try {
                Graph pruned = Pruner.plan(model.graph(), options).apply();
                Equivalence.measure(model.graph(), pruned, model.inputs(), Evaluator::run)
                        .requireEqual(TOLERANCE);
                assertSame(pruned, Pruner.plan(pruned, options).apply());
            } catch (GraphException refused) {
                if (!String.valueOf(refused.getMessage()).contains("carries only constants")) {
                    throw failure(model, refused);
                }
            } catch (RuntimeException | AssertionError failure) {
                throw failure(model, failure);
            }
        }
    }

    /**
     * Whatever channel is left, the outputs depend on the weights that make it and on those that read it. The exception is
     * attention: heads have equally many dimensions, so one that needs fewer than another is filled up; and a grouped
     * convolution, where a filter has its inputs even if they are constant.
     */
    @ParameterizedTest
    @ValueSource(strings = {"images", "tokens"})
    void whateverIsLeftCounts(String kind) {
        int checked = 0;
        for (int seed = 0; seed < 40; seed++) {
            Model model = Model.of(kind, 1000 + seed, true);
            Graph pruned;
            try {
                pruned = Pruner.plan(model.graph(), PruneOptions.DEFAULT).apply();
            } catch (GraphException constant) {
                continue;
            }
            Map<String, Tensor> expected = Evaluator.run(pruned, model.inputs());
            for (Node node : pruned.nodes()) {
                if (isLayer(pruned, node) && !touchesHeads(pruned, node)) {
                    checked += requireEveryChannelCounts(model, pruned, node, expected);
                }
            }
        }
        assertTrue(checked > 300, "only " + checked + " channels were checked");
    }

    private static boolean isLayer(Graph graph, Node node) {
        boolean product = (node.operator() instanceof Conv conv && conv.groups() == 1)
                || node.operator() instanceof Gemm
                || node.operator() instanceof MatMul;
        return product && graph.tensors(Kind.PARAMETER).containsKey(node.input(1));
    }

    private static boolean touchesHeads(Graph graph, Node node) {
        return node.input(0).startsWith("merge") || leadsToHeads(graph, node.output());
    }

    private static boolean leadsToHeads(Graph graph, String tensor) {
        return graph.uses(tensor).stream()
                .map(Use::node)
                .anyMatch(reader -> reader.name().startsWith("heads")
                        || (reader.operator() instanceof Binary && leadsToHeads(graph, reader.output())));
    }

    private static int requireEveryChannelCounts(Model model, Graph pruned, Node node, Map<String, Tensor> expected) {
        Tensor weight = Objects.requireNonNull(pruned.tensor(node.input(1)));
        int checked = 0;
        int inputs = node.operator() instanceof MatMul ? 0 : 1;
        for (int axis = 0; axis < 2; axis++) {
            boolean onlyInput = weight.shape()[axis] == 1;
            boolean pixels = node.input(0).startsWith("flatten");
            if (axis == inputs && (onlyInput || pixels)) {
                // A layer has an input even if it only makes constants, which a border of zeros keeps alive; and a
                // channel of an image goes with all its pixels or not at all.
                continue;
            }
            for (int place = 0; place < weight.shape()[axis]; place++) {
                Graph changed = pruned.withTensors(Map.of(node.input(1), perturb(weight, axis, place, axis == inputs)));
                Map<String, Tensor> actual = Evaluator.run(changed, model.inputs());
                boolean same = expected.entrySet().stream()
                        .allMatch(output ->
                                output.getValue().sameAs(Objects.requireNonNull(actual.get(output.getKey()))));
                if (same) {
                    throw new AssertionError("%s: nothing depends on place %d of axis %d of %s%n%s%n%s"
                            .formatted(
                                    model.name(),
                                    place,
                                    axis,
                                    node,
                                    GraphPrinter.table(model.graph()),
                                    GraphPrinter.table(pruned)));
                }
                checked++;
            }
        }
        return checked;
    }

    /**
     * Other weights at a place of an axis. Those that read a channel are only scaled, so that zeros stay zero and are
     * found; those that make one may be zero: what carries a constant cannot go where a border of zeros tells it apart.
     */
    private static Tensor perturb(Tensor weight, int axis, int place, boolean scale) {
        SplittableRandom random = new SplittableRandom(place);
        long[] shape = weight.shape();
        long inner = 1;
        for (int i = axis + 1; i < shape.length; i++) {
            inner *= shape[i];
        }
        long stride = inner;
        return Tensor.compute(
                weight.type(),
                shape,
                i -> i / stride % shape[axis] != place
                        ? weight.getDouble(i)
                        : scale
                                ? weight.getDouble(i) * random.nextDouble()
                                : weight.getDouble(i) + random.nextGaussian());
    }
}
