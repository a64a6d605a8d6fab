package dev.espalier.torture.crash;

import dev.espalier.core.step.StateFile;
import dev.espalier.torture.Campaign;
import dev.espalier.torture.Effort;
import dev.espalier.torture.Figures;
import dev.espalier.torture.Folders;
import dev.espalier.torture.crash.Fault.Operation;
import dev.espalier.train.journal.RunFolder;
import dev.espalier.train.recipe.Recipe;
import dev.espalier.train.run.RunOptions;
import dev.espalier.train.run.Tasks;
import dev.espalier.train.run.TrainingRun;
import dev.espalier.train.task.Task;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A small training on a {@link Disk}, once for every operation on a file and everything that can go wrong with it; and then gone on with on
 * a disk that works. It must end in the files of an undisturbed one. After an fsync that lied, and only then, it may also refuse to go on.
 */
public final class DiskCampaign implements Campaign {
    private static final String RECIPE = """
            data = { kind = "digits", train_limit = 48, test_limit = 24 }
            model = { kind = "mlp", hidden = [6] }
            penalty = { kind = "group-mcp", lambda = 1e-3, beta = 10 }
            optimizer.rate = 1e-2
            training = { epochs = 1, batch_size = 12, prune_for = "size" }
            phases = { warm_up_epochs = 1, heal_epochs = 1 }
            checkpoint = { every = 3, keep = 2 }
            divergence.chance_epochs = 0
            """;

    /** So many operations after a lie at most, the power is cut. */
    private static final int PATIENCE = 60;

    private final Recipe recipe = Recipe.parse("disk.toml", RECIPE, List.of());
    /** Of the effort that is under way. */
    private Figures figures = new Figures();

    /** A campaign. */
    public DiskCampaign() {}

    @Override
    public String name() {
        return "disk";
    }

    @Override
    public String description() {
        return "every operation of a training on a file fails, in every way; what goes on from there must end in the same files";
    }

    /**
     * One thing that goes wrong.
     *
     * @param at which operation
     * @param operation what it is
     * @param fault what happens to it
     */
    private record Accident(int at, Operation operation, Fault fault) {
        @Override
        public String toString() {
            return fault.words() + " at operation " + at + ", " + operation;
        }
    }

    @Override
    public Figures run(Effort effort) throws IOException, InterruptedException {
        figures = effort.figures();
        Task task = Tasks.of(recipe);
        Path folder = Files.createTempDirectory("espalier-disk");
        try {
            Path whole = folder.resolve("whole");
            Disk healthy = train(task, whole, new Accident(-1, Operation.LOOK, Fault.KILL), 0);
            Delivered expected = Delivered.in(whole);
            List<Accident> accidents = accidents(healthy.operations());
            Collections.shuffle(accidents, new Random(effort.seed()));
            figures.set("operations on files", healthy.operations().size());
            figures.set("accidents to be had", accidents.size());
            effort.forEach((number, random) -> {
                Accident accident = accidents.get(Math.toIntExact(number % accidents.size()));
                Path place = folder.resolve(Long.toString(number));
                endure(task, place, accident, random, expected, "case " + number);
                Folders.delete(place);
            });
            return figures;
        } finally {
            Folders.delete(folder);
        }
    }

    private static List<Accident> accidents(List<Operation> operations) {
        List<Accident> all = new ArrayList<>();
        for (int at = 0; at < operations.size(); at++) {
            for (Fault fault : Fault.values()) {
                if (fault.strikes(operations.get(at))) {
                    all.add(new Accident(at, operations.get(at), fault));
                }
            }
        }
        return all;
    }

    private void endure(
            Task task, Path place, Accident accident, RandomGenerator random, Delivered expected, String which)
            throws IOException {
        String what = which + " (" + accident + "): ";
        figures.add(accident.fault().words(), 1);
        try {
            Disk disk = train(task, place, accident, random.nextInt(1, PATIENCE));
            if (disk.operations().size() <= accident.at()) {
                figures.fail(what + "the training had only " + disk.operations().size() + " operations");
            }
        } catch (Disk.Death _) {
            figures.add("ended in the middle", 1);
        } catch (IOException | UncheckedIOException told) {
            figures.add("told and stopped", 1);
            requireClear(told, what);
        }
        List<Path> intact = intact(place);
        try {
            new TrainingRun(recipe, task, 1, new RunFolder(place), RunOptions.DEFAULT).resume();
        } catch (IOException | UncheckedIOException | IllegalArgumentException refused) {
            figures.add("refused to go on", 1);
            requireClear(refused, what);
            if (accident.fault() != Fault.LIE || !intact(place).containsAll(intact)) {
                figures.fail(what + "cannot be gone on with: " + refused);
            }
            return;
        }
        List<String> differences = expected.differences(Delivered.in(place));
        if (differences.isEmpty()) {
            figures.add("ended in the same files", 1);
        } else {
            figures.fail(what + String.join(", ", differences));
        }
    }

    private void requireClear(Exception told, String what) {
        @Nullable String message = told.getMessage();
        if (message == null || message.isBlank()) {
            figures.fail(what + "is told without a word: " + told);
        }
    }

    private static List<Path> intact(Path place) throws IOException {
        Path checkpoints = new RunFolder(place).checkpoints();
        if (!Files.isDirectory(checkpoints)) {
            return List.of();
        }
        try (Stream<Path> files = Files.list(checkpoints)) {
            return files.filter(file -> file.toString().endsWith(".state") && StateFile.isIntact(file))
                    .toList();
        }
    }

    /** Trains in a folder, which is made, on a disk of its own. */
    private Disk train(Task task, Path place, Accident accident, int patience) throws IOException {
        Disk disk = new Disk(place.toAbsolutePath(), accident.at(), accident.fault(), patience);
        RunFolder run = new RunFolder(new FaultyFileSystem(disk).of(place));
        new TrainingRun(recipe, task, 1, run, RunOptions.DEFAULT).begin();
        return disk;
    }
}
