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
import dev.espalier.train.run.Experiment;
import dev.espalier.train.run.RunOptions;
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

    @Test
    void aCheckpointLearnsToClassifyTexts() throws IOException {
        Path checkpoint = folder.resolve("checkpoint");
        HuggingFace.save(checkpoint, Bert.questionAnswering(TINY, Weights.seeded(3)), TINY);
        Files.write(checkpoint.resolve("vocab.txt"), WORDS);
        Path csv = Files.writeString(folder.resolve("reviews.csv"), reviews(300));
        Recipe recipe = Recipe.parse("reviews.toml", """
                data = { kind = "text", path = "%s", columns = ["review"], label = "verdict", length = 12 }
                model = { kind = "bert", checkpoint = "%s" }
                penalty = { kind = "group-lasso", lambda = 3e-4 }
                phases.warm_up_epochs = 4
                optimizer.rate = 1e-2
                training = { epochs = 8, batch_size = 16 }
                """.formatted(csv, checkpoint), List.of());
        RunFolder run = new RunFolder(folder.resolve("run"));
        RunResult result = Experiment.of(recipe, run, RunOptions.DEFAULT)
                .begin()
                .orElseThrow()
                .getFirst();
        assertTrue(result.prunedScores().firstEntry().getValue() > 0.98, result::toString);
        assertTrue(result.parametersAfter() < result.parametersBefore(), result::toString);
        try (WordPiece tokenizer = WordPiece.load(run.path())) {
            assertEquals(WORDS.size(), tokenizer.size());
        }
    }
}
