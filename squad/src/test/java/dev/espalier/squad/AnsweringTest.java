package dev.espalier.squad;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.core.tensor.TensorView;
import dev.espalier.data.BatchPosition;
import dev.espalier.engine.Device;
import dev.espalier.engine.Network;
import dev.espalier.graph.Graph;
import dev.espalier.graph.Node;
import dev.espalier.graph.group.LayerGroups;
import dev.espalier.graph.group.ModelGroups;
import dev.espalier.graph.group.PaperRules;
import dev.espalier.graph.model.Bert;
import dev.espalier.graph.model.BertConfig;
import dev.espalier.graph.model.HuggingFace;
import dev.espalier.graph.model.Weights;
import dev.espalier.graph.objective.Terms;
import dev.espalier.graph.onnx.OnnxReader;
import dev.espalier.graph.onnx.OnnxWriter;
import dev.espalier.graph.type.Tensor;
import dev.espalier.settings.SettingsException;
import dev.espalier.text.UnknownTokens;
import dev.espalier.text.WordPiece;
import dev.espalier.train.journal.Findings;
import dev.espalier.train.journal.Metric;
import dev.espalier.train.journal.Metrics;
import dev.espalier.train.journal.RunFolder;
import dev.espalier.train.journal.RunResult;
import dev.espalier.train.recipe.Recipe;
import dev.espalier.train.run.Progress;
import dev.espalier.train.run.RunOptions;
import dev.espalier.train.run.Tasks;
import dev.espalier.train.run.TrainedModel;
import dev.espalier.train.run.TrainingListener;
import dev.espalier.train.run.TrainingRun;
import dev.espalier.train.study.Experiment;
import dev.espalier.train.task.EncodingNote;
import dev.espalier.train.task.Example;
import dev.espalier.train.task.Examples;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SequencedMap;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A BERT of one layer, and eight questions that it can learn by heart. */
final class AnsweringTest {
    private static final BertConfig TINY =
            new BertConfig(139, 32, 1, 4, 64, 96, 2, 1e-12, 0, 0, BertConfig.Activation.GELU);

    private static final String RECIPE = """
            [data]
            kind = "squad"
            dir = "given below"
            train_file = "tiny-squad.json"
            test_file = "tiny-squad.json"
            length = 96
            stride = 16
            question_length = 16
            [model]
            kind = "bert"
            checkpoint = "none"
            [penalty]
            kind = "group-lasso"
            lambda = 2e-4
            [groups]
            rules = "paper"
            [optimizer]
            kind = "adam"
            rate = 1e-2
            [training]
            prune_for = "size"
            epochs = 60
            batch_size = 4
            [evaluation]
            every = 20
            batch_size = 3
            """;

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    Path temporary;

    private static Path resource(String name) {
        return Path.of(URI.create(Objects.requireNonNull(AnsweringTest.class.getResource(name), name)
                .toString()));
    }

    private static Recipe recipe(String... overrides) {
        List<String> all = new ArrayList<>(List.of(overrides));
        all.add("data.dir=" + resource("tiny-squad.json").getParent());
        return Recipe.parse("test.toml", RECIPE, all);
    }

    private static QuestionData data(Recipe recipe) throws IOException {
        try (WordPiece tokenizer = WordPiece.load(resource("tiny-vocab.txt"))) {
            return QuestionData.load(recipe.data(), tokenizer);
        }
    }

    private static Answering task(Recipe recipe) throws IOException {
        return answering(recipe, data(recipe));
    }

    private static Answering answering(Recipe recipe, QuestionData data) {
        return new Answering(
                data,
                weights -> Bert.questionAnswering(TINY, weights),
                recipe.training().batchSize(),
                AnswerSearch.DEFAULT,
                recipe.evaluation().batchSize());
    }

    @Test
    void dataAndTaskMustFit() {
        assertMessage(
                "task.kind = answering and data.kind = digits do not fit",
                RECIPE.replaceAll("(?s)kind = \"squad\".*?\\[model]", "kind = \"digits\"\n[model]")
                        .replaceAll("(?s)kind = \"bert\".*?\\[penalty]", "kind = \"mlp\"\n[penalty]"),
                "task.kind=answering");
        assertMessage("data.kind = squad has answers", RECIPE, "model.kind=own", "task.kind=classification");
    }

    private static void assertMessage(String expected, String toml, String... overrides) {
        String message = String.valueOf(assertThrows(
                        IllegalArgumentException.class,
                        () -> Tasks.of(Recipe.parse("test.toml", toml, List.of(overrides))))
                .getMessage());
        assertTrue(message.contains(expected), message);
    }

    @Test
    void aWindowHasRoomForItsSpecialTokens() {
        String[] plan = {"data.stride=128", "data.question_length=64"};
        assertEquals(
                "196",
                recipe("data.length=196", plan[0], plan[1]).settings().texts().get("data.length"));
        String message =
                String.valueOf(assertThrows(SettingsException.class, () -> recipe("data.length=195", plan[0], plan[1]))
                        .getMessage());
        assertTrue(
                message.contains(
                        "data.stride = 128, data.question_length = 64 and 3 special tokens must add up to less than"
                                + " data.length = 195"),
                message);
    }

    @Test
    void howAnswersAreFoundIsTheTasks() {
        assertEquals(
                new AnswerSearch(3, 7),
                AnsweringKind.search(recipe("task.kind=answering", "task.best=3", "task.answer_length=7")
                        .task()));
        assertEquals(AnswerSearch.DEFAULT, AnsweringKind.search(recipe().task()));
    }

    @Test
    void limitsAndValidationAreThoseOfTheRecipe() throws IOException {
        QuestionData all = data(recipe());
        assertEquals(8, all.train().questionCount());
        assertSame(all.test(), all.validation());
        QuestionData cut = data(recipe("data.train_limit=6", "data.test_limit=3", "data.validation_fraction=0.3"));
        assertEquals(6, cut.train().questionCount() + cut.validation().questionCount());
        assertTrue(cut.validation().questionCount() > 0);
        assertEquals(3, cut.test().questionCount());
    }

    /** One answer as people gave it, one with a word too many, and nothing else. */
    @Test
    void wrongAnswersAreToldWithTheirQuestions() throws IOException {
        Windows windows = data(recipe()).test();
        List<String> answers = new ArrayList<>(Collections.nCopies(windows.questionCount(), ""));
        String right = windows.question(0).answers().getFirst().text();
        answers.set(0, right);
        answers.set(1, windows.question(1).answers().getFirst().text() + " nonsense");
        Findings.Samples samples = new Findings.Samples(1, 0, answers.size());
        Findings found = WrongAnswers.findings(windows, answers, samples);
        assertEquals(new Findings.Outcome.Answers(1, 1, answers.size() - 2), found.outcome());
        assertEquals(answers.size() - 1, found.mistakes().size());
        Findings.Mistake partly = found.mistakes().getLast();
        assertEquals(2, partly.row());
        assertEquals(answers.get(1), partly.said());
        assertEquals(
                new Findings.Glimpse.Words("question", windows.question(1).text()),
                partly.inputs().getFirst());
        Findings.Mistake none = found.mistakes().getFirst();
        assertEquals("nothing", none.said());
        assertTrue(((Findings.Glimpse.Words) none.inputs().getLast()).text().contains(none.truth()), none::toString);
    }

    @Test
    void aModelThatGuessesIsFoundOut() throws IOException {
        Answering task = task(recipe());
        Graph graph = task.model(Weights.seeded(1));
        try (Network network = new Network(graph, task.objective(), Device.CPU)) {
            Findings found = task.findings(new TrainedModel(network)).orElseThrow();
            assertEquals(new Findings.Samples(8, 0, 8), found.samples());
            Findings.Outcome.Answers answers = (Findings.Outcome.Answers) found.outcome();
            assertEquals(8, answers.exact() + answers.partly() + answers.wrong());
            assertEquals(8 - answers.exact(), found.mistakes().size());
        }
    }

    /** A vocabulary for lower case that is said to be for text as it is. */
    private QuestionData misread(Recipe recipe) throws IOException {
        Files.copy(resource("tiny-vocab.txt"), temporary.resolve("vocab.txt"));
        Files.writeString(temporary.resolve("tokenizer_config.json"), "{\"do_lower_case\": false}");
        try (WordPiece tokenizer = WordPiece.load(temporary)) {
            return QuestionData.load(recipe.data(), tokenizer);
        }
    }

    @Test
    void dataThatTheVocabularyHardlyKnowsIsRefused() {
        String message = String.valueOf(assertThrows(IllegalArgumentException.class, () -> misread(recipe()))
                .getMessage());
        assertTrue(
                message.matches("1\\d\\.\\d\\d % of all tokens of the train part are unknown to the vocabulary,"
                        + " and data.largest_unknown = 0.1: most of them are words with capitals, such as \"The\", .*"
                        + "\"do_lower_case\": true.* To train all the same, set data.largest_unknown to 1"),
                message);
    }

    @Test
    void unknownTokensAreTold() throws IOException {
        Recipe all = recipe("data.largest_unknown=1");
        List<String> notes = answering(all, misread(all)).notes();
        assertTrue(
                notes.get(2).matches("unknown tokens: train 1\\d\\.\\d\\d %, test 1\\d\\.\\d\\d %"), notes.toString());
        assertTrue(notes.get(3).startsWith("warning: 1") && notes.get(3).contains("capitals"), notes.toString());
        assertTrue(notes.get(4).contains("of the test part"), notes.toString());
        Answering right = task(recipe());
        assertEquals(3, right.notes().size(), () -> right.notes().toString());
        assertEquals(
                List.of("unknown_tokens_train", "unknown_tokens_validation", "unknown_tokens_test"),
                List.copyOf(
                        task(recipe("data.validation_fraction=0.3")).measures().keySet()));
    }

    /** As on the command line: a folder with a checkpoint in, a folder with models and their vocabulary out. */
    @Test
    void aRecipeNeedsNothingButTheFolders() throws IOException {
        Path checkpoint = Files.createDirectory(temporary.resolve("checkpoint"));
        HuggingFace.save(checkpoint, Bert.questionAnswering(TINY, Weights.seeded(7)), TINY);
        Files.copy(resource("tiny-vocab.txt"), checkpoint.resolve("vocab.txt"));
        List<String> notes = new ArrayList<>();
        Set<String> shown = new HashSet<>();
        RunOptions listening = RunOptions.DEFAULT.withListener(new TrainingListener() {
            @Override
            public void onNote(String text) {
                notes.add(text);
            }

            @Override
            public void onStep(Progress progress) {
                shown.add(progress.metric().name());
            }
        });
        RunFolder folder = new RunFolder(temporary.resolve("run"));
        Recipe recipe = recipe(
                "model.checkpoint=" + checkpoint,
                "training.epochs=2",
                "training.accumulate=2",
                "training.clip_norm=1",
                "divergence.chance_epochs=0");
        RunResult result =
                Experiment.of(recipe, folder, listening).begin().orElseThrow().getFirst();
        assertEquals(
                List.of("f1", "exact_match"),
                result.metrics().stream().map(Metric::name).toList());
        assertTrue(notes.getFirst().contains("answers: 8 questions"), notes.toString());
        SequencedMap<String, Double> measures = folder.metrics().getLast().data();
        assertEquals(List.of("unknown_tokens_train", "unknown_tokens_test"), List.copyOf(measures.keySet()));
        assertTrue(measures.firstEntry().getValue() < UnknownTokens.NOTEWORTHY, measures.toString());
        try (WordPiece tokenizer = WordPiece.load(folder.path())) {
            assertEquals(139, tokenizer.size());
        }
        assertTrue(
                EncodingNote.of(OnnxReader.read(folder.pruned()).graph())
                        .orElseThrow()
                        .toJson()
                        .contains("tokenizer.json"),
                "whoever asks the model knows what makes tokens");
        assertEquals(
                Set.of(Metric.share("exact_spans")),
                folder.metrics().getFirst().trainScores().keySet());
        assertEquals(Set.of("exact_spans"), shown);
    }

    private static Graph renamed(Graph graph, Map<String, String> names) {
        UnaryOperator<String> name = old -> names.getOrDefault(old, old);
        return new Graph(
                graph.name(),
                graph.inputs().stream()
                        .map(input -> new Graph.Input(name.apply(input.name()), input.type()))
                        .toList(),
                graph.initializers(),
                graph.nodes().stream()
                        .map(node -> new Node(
                                node.name(),
                                node.operator(),
                                node.inputs().stream().map(name).toList(),
                                node.outputs().stream().map(name).toList()))
                        .toList(),
                graph.outputs().stream().map(name).toList());
    }

    private Path onnx(Map<String, String> names) throws IOException {
        Path folder = Files.createTempDirectory(temporary, "onnx");
        Path file = folder.resolve("model.onnx");
        OnnxWriter.write(renamed(Bert.questionAnswering(TINY, Weights.seeded(7)), names), file);
        Files.copy(resource("tiny-vocab.txt"), folder.resolve("vocab.txt"));
        return file;
    }

    @Test
    void anOnnxFileWithNamesOfItsOwnLearnsToAnswerToo() throws IOException {
        Path file = onnx(Map.of("attention_mask", "mask", "end_logits", "finish"));
        Recipe recipe =
                recipe("model.kind=onnx", "model.file=" + file, "training.epochs=2", "divergence.chance_epochs=0");
        RunFolder folder = new RunFolder(temporary.resolve("run"));
        RunResult result = Experiment.of(recipe, folder, RunOptions.DEFAULT)
                .begin()
                .orElseThrow()
                .getFirst();
        assertEquals(
                List.of("f1", "exact_match"),
                result.metrics().stream().map(Metric::name).toList());
        Graph trained = OnnxReader.read(folder.pruned()).graph();
        assertEquals(
                List.of("input_ids", "mask", "token_type_ids"),
                trained.inputs().stream().map(Graph.Input::name).toList());
        assertEquals(List.of("start_logits", "finish"), trained.outputs());
    }

    @Test
    void anOnnxFileWhoseNamesSayNothingIsRefused() throws IOException {
        Recipe recipe = recipe(
                "model.kind=onnx", "model.file=" + onnx(Map.of("start_logits", "begin", "end_logits", "finish")));
        String message = String.valueOf(assertThrows(
                        IllegalArgumentException.class, () -> Tasks.of(recipe).model(Weights.seeded(1)))
                .getMessage());
        assertTrue(message.startsWith("model.file = "), message);
        assertTrue(message.contains("outputs [begin [batch × tokens], finish [batch × tokens]]"), message);
        assertTrue(message.contains("start_logits [batch × tokens]"), message);
    }

    @Test
    void theLossIsTheMeanOverStartsAndEnds() throws IOException {
        Answering task = task(recipe());
        try (Network network = new Network(task.model(Weights.seeded(3)), task.objective(), Device.CPU);
                Examples examples = task.examples(1, BatchPosition.START, 1)) {
            Example example = examples.next();
            Terms terms = network.addGradients(example.inputs(), example.targets(), 1);
            List<Tensor> logits = List.copyOf(network.predict(example.inputs()).values());
            double start = crossEntropy(logits.get(0), target(example, "start"));
            double end = crossEntropy(logits.get(1), target(example, "end"));
            assertEquals((start + end) / 2, terms.loss(), 1e-5);
            assertNotEquals(start, end);
        }
    }

    private static Tensor target(Example example, String name) {
        return Objects.requireNonNull(example.targets().get(name), name);
    }

    /** By a model that has learned some answers but not all; the twin is the reader that goes through the outputs. */
    @Test
    void asManyAreRightAsTheReaderCounts() throws IOException {
        Answering task = task(recipe());
        Graph model = task.model(Weights.seeded(3));
        try (Network network = new Network(model, task.objective(), Device.CPU)) {
            long all = 0;
            try (Examples examples = task.examples(1, BatchPosition.START, 60)) {
                while (examples.hasNext()) {
                    Example example = examples.next();
                    network.addGradients(example.inputs(), example.targets(), 1);
                    network.changeWeights(weights -> network.gradients().forEach((name, gradient) -> {
                        TensorView view = Objects.requireNonNull(weights.get(name));
                        for (long i = 0; i < view.size(); i++) {
                            view.set(i, view.get(i) - 0.1 * gradient.get(i));
                        }
                    }));
                    network.zeroGradients();
                    int right = AnswerReader.right(
                            network.predict(example.inputs()),
                            example.inputs(),
                            List.of(target(example, "start"), target(example, "end")));
                    assertEquals(
                            right,
                            network.terms(example.inputs(), example.targets()).get("right"));
                    all += right;
                }
            }
            assertTrue(all > 10, "only " + all + " were right");
        }
    }

    private static double crossEntropy(Tensor logits, Tensor labels) {
        int length = (int) logits.shape()[1];
        double sum = 0;
        for (int row = 0; row < labels.size(); row++) {
            int from = row * length;
            double all = IntStream.range(from, from + length)
                    .mapToDouble(i -> Math.exp(logits.getDouble(i)))
                    .sum();
            sum += Math.log(all) - logits.getDouble(from + labels.getLong(row));
        }
        return sum / labels.size();
    }

    @Test
    void aTinyModelLearnsTheAnswersByHeart() throws IOException {
        Recipe recipe = recipe();
        Answering task = task(recipe);
        RunFolder folder = new RunFolder(temporary.resolve("run"));
        RunResult result = new TrainingRun(recipe, task, 1, folder, RunOptions.DEFAULT)
                .begin()
                .orElseThrow();
        List<Metrics> metrics = new ArrayList<>(folder.metrics());
        assertTrue(metrics.getLast().trainLoss() < metrics.getFirst().trainLoss() / 2, metrics.toString());
        assertEquals(
                List.of("f1", "exact_match"),
                result.metrics().stream().map(Metric::name).toList());
        assertTrue(result.scores().firstEntry().getValue() > 0.8, result.toString());
        assertTrue(task.baseline().orElseThrow() < 0.5, "without learning it is " + task.baseline());
        assertEquals(result.scores(), result.prunedScores());
        assertTrue(result.maxAbsDifference() < 1e-3, result.toString());
        assertTrue(result.groupsLeft() < 1, "nothing became zero: " + result);
        assertTrue(Files.size(folder.pruned()) < Files.size(folder.model()));
    }

    @Test
    void groupsWithinGroupsStayZeroWhileTheModelHeals() throws IOException {
        Recipe recipe = recipe(
                "groups.join=nested",
                "penalty.kind=nested-lasso",
                "penalty.lambda=3e-4",
                "penalty.share=0.5",
                "training.epochs=10",
                "phases.warm_up_epochs=1",
                "phases.heal_epochs=3");
        RunFolder folder = new RunFolder(temporary.resolve("run"));
        RunResult result = new TrainingRun(recipe, task(recipe), 1, folder, RunOptions.DEFAULT)
                .begin()
                .orElseThrow();
        assertTrue(result.maxAbsDifference() < 1e-3, result.toString());
        Graph trained = OnnxReader.read(folder.model()).graph();
        ModelGroups whole = recipe.groupRules().derive(trained);
        ModelGroups parts = PaperRules.BERT.derive(trained);
        LayerGroups attention = whole.layers().getFirst();
        assertEquals(3, attention.parameters().size());
        boolean[] zero = attention.zeros(trained);
        int alone = 0;
        for (LayerGroups part : parts.layers().subList(0, 3)) {
            assertTrue(attention.parameters().containsAll(part.parameters()), part::toString);
            boolean[] partly = part.zeros(trained);
            for (int group = 0; group < zero.length; group++) {
                alone += partly[group] && !zero[group] ? 1 : 0;
            }
        }
        assertTrue(alone > 0, "no query, key or value ignores an input that another one reads");
    }
}
