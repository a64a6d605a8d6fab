package dev.espalier.torture.file.reader;

import dev.espalier.train.study.Study;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Studies, expanded to their trials. */
public final class StudyTarget extends SingleFile {
    private static final String RECIPE = "recipe.toml";
    private static final String STUDY = """
            [study]
            recipe = "recipe.toml"
            seeds = [1, 2]

            [axes]
            penalty.lambda = { from = 0.01, to = 0.09, count = 3, scale = "log" }
            optimizer.rate = [1e-3, 2e-3]
            """;

    /** Called by the service loader. */
    public StudyTarget() {
        super("study", Structure.TEXT, "study.toml");
    }

    @Override
    public int share() {
        return 2;
    }

    @Override
    public List<byte[]> seeds(Path folder) {
        return List.of(
                bytes(STUDY), bytes(Study.parse(STUDY, RecipeTarget.RECIPE).toToml()));
    }

    @Override
    public void prepare(Path folder) throws IOException {
        Files.writeString(folder.resolve(RECIPE), RecipeTarget.RECIPE);
    }

    @Override
    public List<String> words() {
        return List.of(
                "\"linear\"",
                "\"log\"",
                "{ from = 1, to = 2, count = 1000000 }",
                "training.epochs",
                "model.channels",
                "[halving]");
    }

    @Override
    public Memory memory() {
        return new Memory(64L << 20, 200);
    }

    @Override
    void read(Path file) throws IOException {
        Study.read(file, List.of()).plan(file.resolveSibling("runs").toString());
    }
}
