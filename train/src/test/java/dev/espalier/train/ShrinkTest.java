package dev.espalier.train;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.data.Context;
import dev.espalier.data.DataSection;
import dev.espalier.graph.Cost;
import dev.espalier.graph.Graph;
import dev.espalier.graph.Initializer;
import dev.espalier.graph.model.ImageOptions;
import dev.espalier.graph.model.Mlp;
import dev.espalier.graph.model.Weights;
import dev.espalier.graph.onnx.OnnxReader;
import dev.espalier.graph.onnx.OnnxWriter;
import dev.espalier.graph.prune.SeededZeros;
import dev.espalier.graph.type.Tensor;
import dev.espalier.train.journal.RunResult;
import dev.espalier.train.recipe.Recipe;
import dev.espalier.train.run.RunOptions;
import dev.espalier.train.run.TrainingListener;
import java.io.IOException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class ShrinkTest {
    private static final List<String> DIGITS =
            List.of("data.kind=digits", "data.train_limit=512", "data.test_limit=100");

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path folder;

    @SuppressWarnings("NullAway.Init") // see below
    private Path model;

    @BeforeEach
    void writeModel() throws IOException {
        model = folder.resolve("model.onnx");
        OnnxWriter.write(Mlp.ofImages(new ImageOptions(10, 1, 8), List.of(24), Weights.seeded(5)), model);
    }

    private Shrink shrink() {
        return Shrink.of(model)
                .inputs(DIGITS)
                .keep(0.5, Shrink.Cost.FLOPS)
                .epochs(30)
                .with(List.of("training.prune_for=size", "optimizer.rate=3e-3")); // few steps
    }

    /** A network of random weights has no neuron that it does not need: half of them still give most of its answers. */
    @Test
    void halfOfAModelGivesItsAnswers() throws IOException {
        Path run = folder.resolve("run");
        RunResult result = shrink().run(run, RunOptions.DEFAULT).orElseThrow();
        assertEquals(0.5, (double) result.flopsAfter() / result.flopsBefore(), 0.05);
        assertTrue(result.prunedScores().firstEntry().getValue() > 0.75, result.toString());
        Graph before = OnnxReader.read(model).graph();
        Graph after = OnnxReader.read(run.resolve("pruned.onnx")).graph();
        assertEquals(before.inputs(), after.inputs());
        assertEquals(before.outputs(), after.outputs());
    }

    /** As of a training under a penalty, whose model.onnx still holds them: they are cut out first, and shares count from there. */
    @Test
    void channelsThatAreZeroAreCutOutFirst() throws IOException {
        Graph zeroed = new SeededZeros(0.5, 1).in(OnnxReader.read(model).graph());
        OnnxWriter.write(zeroed, model);
        List<String> notes = new ArrayList<>();
        TrainingListener listener = new TrainingListener() {
            @Override
            public void onNote(String text) {
                notes.add(text);
            }
        };
        RunResult result = shrink().epochs(4)
                .run(folder.resolve("run"), RunOptions.DEFAULT.withListener(listener))
                .orElseThrow();
        // Both layers lose half of the pixels or neurons; the pixels stay, as nobody cuts an input.
        Graph narrow = Mlp.ofImages(new ImageOptions(10, 1, 8), List.of(12), Weights.seeded(5));
        assertEquals(Cost.parameters(narrow), result.parametersBefore());
        assertTrue(notes.stream().anyMatch(note -> note.contains("zero already")), notes::toString);
    }

    @Test
    void whatWasStoppedGoesOnByItsOwnRecipe() throws IOException {
        Path whole = folder.resolve("whole");
        Shrink few = shrink().epochs(4);
        assertTrue(few.run(whole, RunOptions.DEFAULT).isPresent());
        Path stopped = folder.resolve("stopped");
        AtomicInteger asked = new AtomicInteger();
        assertTrue(few.run(stopped, RunOptions.DEFAULT.withStop(() -> asked.incrementAndGet() == 20))
                .isEmpty());
        assertTrue(Shrink.of(model).run(stopped, RunOptions.DEFAULT).isPresent());
        assertArrayEquals(
                Files.readAllBytes(whole.resolve("model.onnx")), Files.readAllBytes(stopped.resolve("model.onnx")));
    }

    /** What an end of the process leaves that comes between the first file and the recipe. */
    @Test
    void whatWasStoppedBeforeItsRecipeGoesOn() throws IOException {
        Path whole = folder.resolve("whole");
        Shrink few = shrink().epochs(2);
        assertTrue(few.run(whole, RunOptions.DEFAULT).isPresent());
        Path stopped = folder.resolve("stopped");
        Files.createDirectories(stopped.resolve(Shrink.ANSWERS));
        Files.writeString(stopped.resolve("trainer.json"), "{ \"pid\": 2147483647, \"started\": 1 }");
        Files.writeString(stopped.resolve("trainer.json.tmp"), "");
        Files.writeString(stopped.resolve("recipe.toml.tmp"), "seed = ");
        assertTrue(few.run(stopped, RunOptions.DEFAULT).isPresent());
        assertArrayEquals(
                Files.readAllBytes(whole.resolve("model.onnx")), Files.readAllBytes(stopped.resolve("model.onnx")));
        Path foreign = Files.createDirectories(folder.resolve("foreign"));
        Files.writeString(foreign.resolve("notes.txt"), "of somebody else");
        assertThrows(DirectoryNotEmptyException.class, () -> few.run(foreign, RunOptions.DEFAULT));
    }

    /** Data of a Java program is data. */
    @Test
    void inputsMayBeAProgramsOwn() throws IOException {
        Path run = folder.resolve("run");
        assertTrue(shrink().inputs(DataSection.load(DataSection.read(DIGITS.toArray(String[]::new)), Context.QUIET))
                .epochs(2)
                .run(run, RunOptions.DEFAULT)
                .isPresent());
        assertTrue(Files.readString(run.resolve("recipe.toml")).contains("kind = \"own\""));
    }

    @Test
    void theRecipeHasWhatWasChosen() throws IOException {
        Recipe recipe = shrink().recipe(folder.resolve("run"), RunOptions.DEFAULT);
        assertEquals(15, recipe.training().epochs());
        assertEquals(15, recipe.phases().healEpochs());
        // The pixels stay, whoever reads them.
        assertEquals(1, recipe.groups().exclude().size());
        assertTrue(recipe.toToml().contains("answers = \"kept\""), recipe.toToml());
        List<String> notes = new ArrayList<>();
        TrainingListener listener = new TrainingListener() {
            @Override
            public void onNote(String text) {
                notes.add(text);
            }
        };
        Recipe hasty = shrink().minutes(1e-4).recipe(folder.resolve("run"), RunOptions.DEFAULT.withListener(listener));
        assertTrue(notes.stream().anyMatch(note -> note.contains("is too short")), notes::toString);
        assertEquals(3, hasty.totalEpochs());
        assertTrue(hasty.toToml().contains("train_limit = "), hasty.toToml());
    }

    /** A step goes as far in a model of large weights as in one of small ones. */
    @Test
    void theRateFitsTheWeights() throws IOException {
        Shrink plain = Shrink.of(model).inputs(DIGITS);
        double rate = plain.recipe(folder.resolve("run"), RunOptions.DEFAULT)
                .optimizer()
                .rate();
        Graph graph = OnnxReader.read(model).graph();
        Map<String, Tensor> larger = new HashMap<>();
        graph.tensors(Initializer.Kind.PARAMETER)
                .forEach((name, tensor) ->
                        larger.put(name, Tensor.compute(tensor.type(), tensor.shape(), i -> 3 * tensor.getDouble(i))));
        OnnxWriter.write(graph.withTensors(larger), model);
        double other = plain.recipe(folder.resolve("run"), RunOptions.DEFAULT)
                .optimizer()
                .rate();
        assertEquals(3, other / rate, 0.2);
    }

    /** What is compared within a model is there in training only: what is judged are outputs. */
    @Test
    void tensorsWithinAModelMayBeComparedToo() throws IOException {
        Graph graph = OnnxReader.read(model).graph();
        String inner = graph.nodes().get(graph.nodes().size() - 2).output();
        for (String answers : List.of("engine", "runtime")) {
            RunResult result = shrink().epochs(2)
                    .with(List.of("task.match=[\"" + inner + "\"]", "task.answers=" + answers))
                    .run(folder.resolve(answers), RunOptions.DEFAULT)
                    .orElseThrow();
            assertTrue(result.prunedScores().firstEntry().getValue() > 0.3, result.toString());
        }
    }

    /** With the first group of each layer alone nothing of the input gets through, which says nothing of what can be reached. */
    @Test
    void groupsThatDoNotHoldTogetherAreNoBound() throws IOException {
        Graph graph = Mlp.ofImages(new ImageOptions(10, 1, 8), List.of(24, 16), Weights.seeded(5));
        Map<String, Tensor> zeroed = new HashMap<>();
        graph.tensors(Initializer.Kind.PARAMETER).forEach((name, tensor) -> {
            if (tensor.size() == 24 * 16) {
                zeroed.put(name, Tensor.compute(tensor.type(), tensor.shape(), i -> i == 0 ? 0 : tensor.getDouble(i)));
            }
        });
        assertEquals(1, zeroed.size());
        OnnxWriter.write(graph.withTensors(zeroed), model);
        for (Shrink.Cost cost : List.of(Shrink.Cost.FLOPS, Shrink.Cost.PARAMETERS)) {
            RunResult result = shrink().keep(0.5, cost)
                    .epochs(2)
                    .run(folder.resolve(cost.words()), RunOptions.DEFAULT)
                    .orElseThrow();
            assertEquals(0.5, result.size().reached(), 0.05);
        }
    }

    @Test
    void whatIsNotPossibleIsSaidAtOnce() {
        String message = String.valueOf(assertThrows(
                        IllegalArgumentException.class,
                        () -> shrink().keep(0.01, Shrink.Cost.FLOPS).run(folder.resolve("run"), RunOptions.DEFAULT))
                .getMessage());
        assertTrue(
                message.startsWith("1 % of the FLOPs cannot be reached: with one group left in each of the 1 layers"),
                message);
        assertThrows(IllegalArgumentException.class, () -> shrink().keep(1, Shrink.Cost.FLOPS));
        assertThrows(IllegalArgumentException.class, () -> shrink().epochs(1));
        assertThrows(IllegalArgumentException.class, () -> shrink().minutes(0));
    }
}
