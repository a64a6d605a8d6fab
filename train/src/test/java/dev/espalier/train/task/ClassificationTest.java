package dev.espalier.train.task;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.data.Context;
import dev.espalier.data.DataSection;
import dev.espalier.data.LoadedData;
import dev.espalier.engine.Device;
import dev.espalier.engine.Network;
import dev.espalier.graph.Graph;
import dev.espalier.graph.Node;
import dev.espalier.graph.eval.Evaluator;
import dev.espalier.graph.eval.Logits;
import dev.espalier.graph.model.ImageOptions;
import dev.espalier.graph.model.Mlp;
import dev.espalier.graph.model.Weights;
import dev.espalier.graph.op.Softmax;
import dev.espalier.train.recipe.Recipe;
import dev.espalier.train.run.JudgedModel;
import dev.espalier.train.run.Tasks;
import dev.espalier.train.run.TrainedModel;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

final class ClassificationTest {
    private static Recipe recipe(String... overrides) {
        return Recipe.parse("test.toml", """
                [data]
                kind = "digits"
                train_limit = 40
                test_limit = 20
                [model]
                kind = "own"
                [method]
                kind = "baseline"
                [optimizer]
                rate = 1e-2
                [training]
                prune_for = "size"
                epochs = 1
                batch_size = 20
                """, List.of(overrides));
    }

    private static Graph mlp(Weights weights) {
        return Mlp.ofImages(new ImageOptions(10, 1, 8), List.of(5), weights);
    }

    private static Classification task(Function<Weights, Graph> model) throws IOException {
        Recipe recipe = recipe();
        LoadedData data = DataSection.load(recipe.data(), Context.QUIET);
        return new Classification(data, model, recipe.batching());
    }

    private static Graph ending(Weights weights, boolean logarithm) {
        Graph mlp = mlp(weights);
        List<Node> nodes = new ArrayList<>(mlp.nodes());
        nodes.add(new Node("end", new Softmax(-1, logarithm), List.of("logits"), List.of("end")));
        return new Graph("ending", mlp.inputs(), mlp.initializers(), nodes, List.of("end"));
    }

    @Test
    void aSoftmaxAtTheEndIsRefusedButItsLogarithmIsNot() throws IOException {
        String message = String.valueOf(assertThrows(
                        IllegalArgumentException.class, () -> task(weights -> ending(weights, false)))
                .getMessage());
        assertTrue(message.contains("softmax"), message);
        assertEquals(
                List.of("end"),
                task(weights -> ending(weights, true)).model(Weights.seeded(1)).outputs());
    }

    /** It has two outputs, and only one of them is a number for each class. */
    @Test
    void whatTheModelSaysBesidesChangesNothing() throws IOException {
        Classification plain = task(ClassificationTest::mlp);
        Classification more = task(weights -> {
            Graph mlp = mlp(weights);
            return new Graph("more", mlp.inputs(), mlp.initializers(), mlp.nodes(), List.of("hidden.0.relu", "logits"));
        });
        Graph graph = plain.model(Weights.seeded(1));
        Graph wide = more.model(Weights.seeded(1));
        try (JudgedModel one = new JudgedModel(plain, graph, inputs -> Evaluator.run(graph, inputs));
                JudgedModel other = new JudgedModel(more, wide, inputs -> Evaluator.run(wide, inputs))) {
            assertEquals(plain.evaluate(one, Task.Part.TEST), more.evaluate(other, Task.Part.TEST));
        }
    }

    /** Sums are enough: of a model that is judged, no output is asked for. */
    @Test
    void aModelIsJudgedByTheSumsOfItsObjective() throws IOException {
        Classification task = task(ClassificationTest::mlp);
        Graph graph = task.model(Weights.seeded(1));
        double[] expected = new double[2]; // the loss and what is right, added up by hand
        try (JudgedModel copied = new JudgedModel(task, graph, inputs -> Evaluator.run(graph, inputs));
                Network network = new Network(graph, task.objective(), Device.CPU)) {
            Task.Model model = new TrainedModel(network);
            Evaluation found = task.evaluate(
                    new Watched(model, (example, logits) -> {
                        for (int row = 0; row < example.size(); row++) {
                            Logits own = new Logits(logits, 10L * row, 10);
                            int label = (int) Watched.truth(example).getLong(row);
                            expected[0] += own.crossEntropy(label);
                            expected[1] += own.largest() == label ? 1 : 0;
                        }
                    }),
                    Task.Part.TEST);
            assertEquals(20, found.samples());
            assertEquals(expected[0] / 20, found.loss(), 1e-6);
            assertEquals(expected[1] / 20, found.main().getValue());
            Evaluation judged = task.evaluate(copied, Task.Part.TEST);
            assertEquals(found.scores(), judged.scores());
            assertEquals(found.loss(), judged.loss(), 1e-6);
        }
    }

    @Test
    void theDataSuggestsTheTask() throws IOException {
        assertTrue(Tasks.of(recipe("model.kind=mlp")) instanceof Classification);
        assertTrue(Tasks.of(recipe("model.kind=mlp", "task.kind=classification")) instanceof Classification);
    }

    @Test
    void aFileThatIsNotThereIsToldAtOnce() {
        assertThrows(NoSuchFileException.class, () -> Tasks.of(recipe("model.kind=onnx", "model.file=nowhere.onnx")));
    }

    @Test
    void aModelOfOnesOwnIsNoneThatARecipeCanMake() {
        String message = String.valueOf(assertThrows(IllegalArgumentException.class, () -> Tasks.of(recipe()))
                .getMessage());
        assertTrue(message.contains("model.kind = own"), message);
    }
}
