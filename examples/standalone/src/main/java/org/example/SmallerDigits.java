package org.example;

import dev.espalier.train.journal.RunFolder;
import dev.espalier.train.journal.RunResult;
import dev.espalier.train.recipe.Recipe;
import dev.espalier.train.study.Experiment;
import dev.espalier.train.run.RunOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.util.List;
import java.util.Locale;

/** Trains a small network on the digits that Espalier brings along, and prunes it. */
public final class SmallerDigits {
    private static final String RECIPE = """
            data.kind = "digits"
            model = { kind = "mlp", hidden = [64] }
            penalty = { kind = "group-mcp", lambda = 4e-3, beta = 20 }
            optimizer.rate = 5e-3
            training = { epochs = 5, batch_size = 64 }
            """;

    private SmallerDigits() {}

    public static void main(String[] arguments) throws IOException {
        RunFolder folder = new RunFolder(Files.createTempDirectory("espalier").resolve("run"));
        RunResult result = Experiment.of(Recipe.parse("digits.toml", RECIPE, List.of()), folder, RunOptions.DEFAULT)
                .begin()
                .orElseThrow()
                .getFirst();
        System.out.printf(
                Locale.ROOT,
                "accuracy %.3f with %,d of %,d parameters: %s%n",
                result.prunedScores().firstEntry().getValue(),
                result.parametersAfter(),
                result.parametersBefore(),
                folder.pruned());
    }
}
