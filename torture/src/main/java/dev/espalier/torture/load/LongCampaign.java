package dev.espalier.torture.load;

import dev.espalier.torture.Campaign;
import dev.espalier.torture.Effort;
import dev.espalier.torture.Figures;
import dev.espalier.torture.Folders;
import dev.espalier.train.journal.RunFolder;
import dev.espalier.train.recipe.Recipe;
import dev.espalier.train.run.RunOptions;
import dev.espalier.train.run.Tasks;
import dev.espalier.train.run.TrainingRun;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Locale;

/**
 * One training of very many tiny steps, with evaluations and checkpoints in between; a case is a step. Memory, native memory, open files and
 * the processor time of a step must not grow.
 */
public final class LongCampaign implements Campaign {
    /** More than a million steps, some 200 in an epoch. What is kept of each evaluation is a line of metrics; there are 450 of those. */
    private static final String RECIPE = """
            data = { kind = "digits", train_limit = 1000, test_limit = 50 }
            model = { kind = "mlp", hidden = [8] }
            penalty = { kind = "group-mcp", lambda = 1e-4, beta = 10 }
            optimizer = { kind = "adam", rate = 1e-4 }
            training = { epochs = 4500, batch_size = 4, prune_for = "size" }
            evaluation.every = 10
            checkpoint.every = 1000
            divergence.chance_epochs = 0
            """;

    private static final int SAMPLES = 100;

    /** What counts as flat, over the second half of the run: megabytes of heap and of the process, files, and the share that a step may be slower. */
    private static final double MOST_HEAP = 4;

    private static final double MOST_RESIDENT = 48;
    private static final double MOST_HANDLES = 0;
    private static final double MOST_SLOWER = 0.25;

    /** With fewer samples, what is measured is a JVM that warms up. */
    private static final int FEWEST_SAMPLES = 40;

    /** A campaign. */
    public LongCampaign() {}

    @Override
    public String name() {
        return "long";
    }

    @Override
    public String description() {
        return "one training of up to 1,000,000 steps (--cases says how many): memory, open files and the time of a step stay flat";
    }

    @Override
    public Figures run(Effort effort) throws IOException {
        Figures figures = effort.figures();
        Vitals vitals = new Vitals();
        Path folder = Files.createTempDirectory("espalier-long");
        try {
            Recipe recipe = Recipe.parse("long.toml", RECIPE, List.of());
            RunOptions options = RunOptions.DEFAULT.withStop(() -> {
                boolean more = effort.more();
                if (effort.share() * SAMPLES >= vitals.samples().size() + 1) {
                    sample(effort, vitals);
                }
                return !more;
            });
            new TrainingRun(recipe, Tasks.of(recipe), 1, new RunFolder(folder.resolve("run")), options).begin();
        } finally {
            Folders.delete(folder);
        }
        tell(effort, vitals, figures);
        return figures;
    }

    private static void sample(Effort effort, Vitals vitals) {
        try {
            Vitals.Sample now = vitals.take((double) effort.cases());
            Files.writeString(
                    effort.folder().resolve("vitals.csv"),
                    String.format(
                            Locale.ROOT,
                            "%.0f,%.2f,%.1f,%.0f,%.6f%n",
                            now.work(),
                            now.heap(),
                            now.resident(),
                            now.handles(),
                            now.seconds()),
                    StandardOpenOption.CREATE,
                    StandardOpenOption.APPEND);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void tell(Effort effort, Vitals vitals, Figures figures) {
        figures.set("steps", (double) effort.cases());
        figures.set("samples", vitals.samples().size());
        if (vitals.samples().size() < FEWEST_SAMPLES) {
            return;
        }
        judge(figures, vitals.early(Vitals.Sample::heap), vitals.growth(Vitals.Sample::heap), MOST_HEAP, "heap, MB");
        judge(
                figures,
                vitals.early(Vitals.Sample::resident),
                vitals.growth(Vitals.Sample::resident),
                MOST_RESIDENT,
                "process, MB");
        judge(
                figures,
                vitals.early(Vitals.Sample::handles),
                vitals.growth(Vitals.Sample::handles),
                MOST_HANDLES,
                "open files");
        double early = vitals.early(Vitals.Sample::seconds) * 1e6;
        judge(
                figures,
                early,
                vitals.growth(Vitals.Sample::seconds) * 1e6,
                MOST_SLOWER * early,
                "processor time of a step, µs");
    }

    private static void judge(Figures figures, double early, double growth, double most, String what) {
        figures.set(what, early);
        figures.set(what + ", growth", growth);
        if (growth > most) {
            figures.fail("%s grew by %.3g, which is more than %.3g".formatted(what, growth, most));
        }
    }
}
