package dev.espalier.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.graph.model.Bert;
import dev.espalier.graph.model.BertConfig;
import dev.espalier.graph.model.HuggingFace;
import dev.espalier.graph.model.Weights;
import dev.espalier.text.WordPiece;
import dev.espalier.train.journal.RunFolder;
import dev.espalier.train.journal.RunResult;
import dev.espalier.train.recipe.Recipe;
import dev.espalier.train.run.RunOptions;
import dev.espalier.train.study.Experiment;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Texts are classified: a CSV and a checkpoint in, a smaller model with its tokenizer out. */
final class TextTrainingTest {
    private static final List<String> WORDS = List.of(
            "[PAD]", "[UNK]", "[CLS]", "[SEP]", "good", "bad", "fine", "dull", "the", "film", "was", "a", "very",
            "book");
    private static final BertConfig TINY =
            new BertConfig(WORDS.size(), 16, 1, 2, 32, 16, 2, 1e-12, 0, 0, BertConfig.Activation.GELU);

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    Path folder;

    /** What is said of a film is in one word, wherever it stands. */
    private static String reviews(int count) {
        Random random = new Random(5);
        StringBuilder csv = new StringBuilder("id,review,verdict\n");
        for (int i = 0; i < count; i++) {
            boolean like = random.nextBoolean();
            String word = WORDS.get((like ? 4 : 5) + 2 * random.nextInt(2));
            String text = random.nextBoolean()
                    ? "The %s was very %s".formatted(random.nextBoolean() ? "film" : "book", word)
                    : "A %s %s".formatted(word, random.nextBoolean() ? "film" : "book");
            csv.append(i)
                    .append(",\"")
                    .append(text)
                    .append("\",")
                    .append(like ? "like" : "dislike")
                    .append('\n');
        }
        return csv.toString();
    }

    private Path checkpoint() throws IOException {
        Path checkpoint = folder.resolve("checkpoint");
        HuggingFace.save(checkpoint, Bert.questionAnswering(TINY, Weights.seeded(3)), TINY);
        Files.write(checkpoint.resolve("vocab.txt"), WORDS);
        return checkpoint;
    }

    private static RunResult train(RunFolder run, String recipe) throws IOException {
        return Experiment.of(Recipe.parse("texts.toml", recipe, List.of()), run, RunOptions.DEFAULT)
                .begin()
                .orElseThrow()
                .getFirst();
    }

    /** Nothing of the training is left but the folder of the run. */
    private static void remove(Path checkpoint, Path data) throws IOException {
        Files.move(checkpoint, checkpoint.resolveSibling("elsewhere"));
        Files.delete(data);
    }

    private Path write(String name, String text) throws IOException {
        return Files.writeString(folder.resolve(name), text);
    }

    private static String said(Object... arguments) {
        Answer answer = Answer.to(arguments);
        assertEquals(0, answer.exitStatus(), answer.err());
        return answer.out().replaceAll(",[0-9.E-]+\\R", "\n");
    }

    private static void assertRefused(String words, Object... arguments) {
        Answer answer = Answer.to(arguments);
        assertTrue(answer.exitStatus() != 0, answer.out());
        assertTrue(answer.err().contains(words), answer.err());
    }

    /** What lies between the ids of two words is another word's. */
    @Test
    void tokensAreNotMixed() throws IOException {
        Path recipe = write("mixed.toml", """
                data = { kind = "text", path = "%s", columns = ["review"], label = "verdict", length = 12 }
                model = { kind = "bert", checkpoint = "%s" }
                penalty = { kind = "group-lasso", lambda = 3e-3 }
                task.mixup = 0.2
                optimizer.rate = 1e-2
                training = { epochs = 1, batch_size = 16 }
                """.formatted(write("reviews.csv", reviews(40)), checkpoint()));
        assertRefused(
                "task.mixup = 0.2 mixes numbers of single precision, but the model's input input_ids takes INT64: set task.mixup = 0",
                "train",
                recipe,
                "--run-dir",
                folder.resolve("mixed"));
    }

    @Test
    void aCheckpointLearnsToClassifyTexts() throws IOException {
        Path checkpoint = checkpoint();
        Path csv = write("reviews.csv", reviews(300));
        RunFolder run = new RunFolder(folder.resolve("run"));
        RunResult result = train(run, """
                data = { kind = "text", path = "%s", columns = ["review"], label = "verdict", length = 12 }
                model = { kind = "bert", checkpoint = "%s" }
                penalty = { kind = "group-lasso", lambda = 3e-3 }
                phases.warm_up_epochs = 4
                optimizer.rate = 1e-2
                training = { epochs = 8, batch_size = 16 }
                """.formatted(csv, checkpoint));
        assertTrue(result.prunedScores().firstEntry().getValue() > 0.98, result::toString);
        assertTrue(result.parametersAfter() < result.parametersBefore(), result::toString);
        try (WordPiece tokenizer = WordPiece.load(run.path())) {
            assertEquals(WORDS.size(), tokenizer.size());
        }
        var score = result.prunedScores().firstEntry();
        String own = said("evaluate", run.path());
        assertTrue(own.startsWith("accuracy " + score.getKey().write(score.getValue())), own);
        remove(checkpoint, csv);
        assertAnswers(run);
        assertJudged(run);
        assertRefusals(run);
    }

    private void assertAnswers(RunFolder run) throws IOException {
        String good = "A good film";
        String dull = "The book was very dull";
        assertEquals(
                "line,verdict,probability\n2,like\n3,dislike\n",
                said("predict", run.path(), write("two.csv", "id,review\n1,%s\n2,%s\n".formatted(good, dull))));
        assertEquals(
                "line,verdict,probability\n2,like\n3,dislike\n",
                said("predict", run.model(), write("two.tsv", "review\tid\n%s\t1\n%s\t2\n".formatted(good, dull))));
        assertEquals(
                "line,verdict,probability\n1,like\n3,dislike\n",
                said("predict", run.path(), write("two.txt", "%s\n\n%s\n".formatted(good, dull))));
        assertEquals(
                "line,verdict,probability\n1,like\n2,dislike\n",
                said("predict", run.path(), write("two.jsonl", """
                        {"review": "%s", "id": 1}
                        {"id": 2, "review": "%s"}
                        """.formatted(good, dull))));
        // Many rows, in more than one batch, come in their order.
        StringBuilder many = new StringBuilder();
        for (int i = 0; i < 600; i++) {
            many.append(i % 3 == 0 ? good : dull).append('\n');
        }
        List<String> lines = said("predict", run.path(), write("many.txt", many.toString()))
                .lines()
                .toList();
        assertEquals(601, lines.size());
        for (int i = 0; i < 600; i++) {
            assertEquals((i + 1) + (i % 3 == 0 ? ",like" : ",dislike"), lines.get(i + 1));
        }
    }

    private void assertJudged(RunFolder run) throws IOException {
        String judged = said("evaluate", run.path(), write("judged.jsonl", """
                {"review": "A good film", "verdict": "like"}
                {"review": "A dull film", "verdict": "dislike"}
                {"review": "A bad book", "verdict": "like"}
                {"review": "A fine book", "verdict": "like"}
                """));
        assertTrue(judged.startsWith("accuracy 75.0 %"), judged);
        assertRefused(
                "'maybe' in column verdict: expected one of [dislike, like]",
                "evaluate",
                run.path(),
                write("maybe.csv", "review,verdict\nA good film,maybe\n"));
    }

    private void assertRefusals(RunFolder run) throws IOException {
        assertRefused(
                "there is no column review; there are [text]",
                "predict",
                run.path(),
                write("other.csv", "text\nA good film\n"));
        Path broken = write("broken.jsonl", """
                {"review": "A good film"}
                {"review":
                ["A good film"]
                {"text": "A good film"}
                {"review": {"text": "A good film"}}
                """);
        Answer all = Answer.to("predict", run.path(), broken);
        for (String words :
                List.of("4 problems", "line 2: no sound JSON", "line 3: no JSON", "line 4: there", "line 5: {")) {
            assertTrue(all.err().contains(words), all.err());
        }
        assertEquals("", all.out());
        assertRefused("give a file, or /dev/stdin", "predict", run.path(), "-");
        Path alone = Files.copy(
                run.pruned(), Files.createDirectory(folder.resolve("alone")).resolve("pruned.onnx"));
        Path texts = write("one.txt", "A good film\n");
        assertRefused("--tokenizer DIR", "predict", alone, texts);
        assertEquals("line,verdict,probability\n1,like\n", said("predict", alone, texts, "--tokenizer", run.path()));
        Answer strange = Answer.to("predict", run.path(), write("strange.txt", "Ein guter film\n"));
        assertTrue(strange.err().contains("of all tokens are unknown to the tokenizer"), strange.err());
    }

    @Test
    void pairsAreReadByTheNamesOfTheirColumns() throws IOException {
        Path checkpoint = checkpoint();
        Random random = new Random(6);
        StringBuilder table = new StringBuilder("before,after,verdict\n");
        for (int i = 0; i < 200; i++) {
            boolean like = random.nextBoolean();
            table.append("a %s film,a %s film,%s\n"
                    .formatted(
                            random.nextBoolean() ? "good" : "bad", like ? "good" : "bad", like ? "like" : "dislike"));
        }
        Path csv = write("pairs.csv", table.toString());
        RunFolder run = new RunFolder(folder.resolve("pairs"));
        RunResult result = train(run, """
                data = { kind = "text", path = "%s", label = "verdict", length = 12 }
                model = { kind = "bert", checkpoint = "%s" }
                method.kind = "baseline"
                optimizer.rate = 1e-2
                training = { epochs = 8, batch_size = 16 }
                """.formatted(csv, checkpoint));
        assertTrue(result.prunedScores().firstEntry().getValue() > 0.98, result::toString);
        remove(checkpoint, csv);
        assertEquals(
                "line,verdict,probability\n2,like\n3,dislike\n",
                said(
                        "predict",
                        run.path(),
                        write("two.csv", "after,before\na good film,a bad film\na bad film,a good film\n")));
        assertRefused(
                "a text in a line, and [before, after] are needed",
                "predict",
                run.path(),
                write("one.txt", "a good film\n"));
    }
}
