package dev.espalier.reproduce;

import dev.espalier.report.ReportAtEnd;
import dev.espalier.train.journal.RunFolder;
import dev.espalier.train.journal.RunResult;
import dev.espalier.train.recipe.Recipe;
import dev.espalier.train.run.DivergedException;
import dev.espalier.train.study.Experiment;
import dev.espalier.train.run.RunOptions;
import dev.espalier.train.run.Tasks;
import dev.espalier.train.run.TrainingRun;
import dev.espalier.train.task.Task;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The trainings that tables and figures are made of. Each has a folder of its own, named after its recipe: whatever needs the
 * same one, in this item or in another with the same folder, finds it there. A {@link Variant} has a folder beside it.
 *
 * @param setting how an item is reproduced
 */
record Trainings(Setting setting) {

    /**
     * Looks whether there is a folder of the real data, if the models of a table need it.
     *
     * @throws IllegalArgumentException if there is not
     */
    static void require(PaperTable table, Setting setting) {
        if (setting.scale() == Scale.FULL) {
            new Trainings(setting).realData(table);
        }
    }

    /** How a row is trained at a scale, wherever its data lies. */
    static Recipe protocol(Scale scale, PaperRow row) throws IOException {
        return ShippedRecipe.of(
                row.recipe(),
                switch (scale) {
                    case SMALL -> row.small();
                    case FULL -> List.of();
                });
    }

    /** The recipe of a row: its protocol with the changes that were asked for, and with its data where that is. */
    Recipe recipe(PaperTable table, PaperRow row) throws IOException {
        List<String> overrides = new ArrayList<>();
        switch (setting.scale()) {
            case SMALL -> {
                overrides.addAll(row.small());
                if (table.asksQuestions()) {
                    overrides.addAll(SmallQuestions.prepare(setting.folder().resolve("small-questions")));
                }
            }
            case FULL -> overrides.addAll(realData(table));
        }
        overrides.addAll(setting.changes());
        return ShippedRecipe.of(row.recipe(), overrides);
    }

    private List<String> realData(PaperTable table) {
        return switch (table) {
            case VGG16, RESNET34, BEST_VGG16, BEST_RESNET34 ->
                List.of("data.dir=" + within(setting.requireCifar10(), "cifar10"));
            case BERT, BEST_BERT -> {
                Path data = setting.data()
                        .orElseThrow(() -> new IllegalArgumentException(
                                "--scale full needs SQuAD 1.1 and BERT-base: give --data DIR, a folder with squad"
                                        + " (train-v1.1.json and dev-v1.1.json) and bert-base-uncased (config.json,"
                                        + " model.safetensors and vocab.txt) in it, or use --scale small"));
                yield List.of(
                        "data.dir=" + data.resolve("squad"), "model.checkpoint=" + data.resolve("bert-base-uncased"));
            }
        };
    }

    /** The data itself, or a folder with all data sets in it: both may be given. */
    static Path within(Path folder, String name) {
        Path inner = folder.resolve(name);
        return Files.isDirectory(inner) ? inner : folder;
    }

    /** What a row differs in from its protocol. */
    Variant variant(PaperRow row, Recipe recipe) throws IOException {
        return Variant.of(protocol(setting.scale(), row), recipe);
    }

    private RunFolder place(String name) {
        return new RunFolder(setting.trainings().resolve(name));
    }

    /**
     * What the trainings of a row came to, of all seeds that are there.
     *
     * @param row the row
     * @param recipe how it is trained in this setting
     */
    List<RowResult> results(PaperRow row, Recipe recipe) throws IOException {
        Recipe protocol = protocol(setting.scale(), row);
        Variant variant = Variant.of(protocol, recipe);
        List<RowResult> results = new ArrayList<>();
        for (RunFolder run : runs(row, recipe)) {
            Optional<RowResult> result = RowResult.read(row.recipe(), protocol, run);
            if (result.isPresent() && !new Variant(result.get().variant()).equals(variant)) {
                setting.note("%s is left out: it was trained with %s"
                        .formatted(run.path(), new Variant(result.get().variant())));
            } else {
                result.ifPresent(results::add);
            }
        }
        return results;
    }

    /** Whether a training of a row went nowhere. */
    boolean isGivenUp(PaperRow row, Recipe recipe) throws IOException {
        for (RunFolder run : runs(row, recipe)) {
            if (run.reason().isPresent()) {
                return true;
            }
        }
        return false;
    }

    private List<RunFolder> runs(PaperRow row, Recipe recipe) throws IOException {
        RunFolder place = place(variant(row, recipe).folder(row.recipe()));
        return Files.isDirectory(place.path()) ? place.runs() : List.of();
    }

    /**
     * Trains, or goes on, or takes what is finished.
     *
     * @param name the name of the folder
     * @param recipe how; its seeds are not used
     * @return a training for each seed, but for those that were given up; empty if it was stopped
     */
    Optional<List<Trained>> run(String name, Recipe recipe) throws IOException {
        RunFolder place = place(name);
        List<Trained> all = new ArrayList<>();
        Task task = null;
        for (long seed : setting.seeds()) {
            Recipe one = recipe.withSeed(seed);
            RunFolder folder = place.seed(seed);
            Optional<RunResult> finished = finished(one, folder);
            if (finished.isPresent()) {
                all.add(new Trained(one, folder, finished.get()));
                continue;
            }
            setting.note("%s, seed %d".formatted(name, seed));
            task = loaded(task, one);
            try {
                Optional<List<RunResult>> results = new Experiment(one, task, folder, reporting()).resume();
                if (results.isEmpty()) {
                    return Optional.empty();
                }
                all.add(new Trained(one, folder, results.get().getFirst()));
            } catch (DivergedException nowhere) {
                setting.note("%s, seed %d is left out: %s".formatted(name, seed, nowhere.getMessage()));
            }
        }
        return Optional.of(all);
    }

    /** What is finished may be of another precision; what is not goes on as it was begun. */
    private static Optional<RunResult> finished(Recipe recipe, RunFolder folder) throws IOException {
        return Files.exists(folder.recipe())
                        && Variant.of(recipe, Recipe.read(folder.recipe(), List.of()))
                                .isNone()
                ? folder.result()
                : TrainingRun.finished(recipe, folder);
    }

    private RunOptions reporting() {
        RunOptions options = setting.run();
        return options.withListener(options.listener().and(new ReportAtEnd()));
    }

    private static Task loaded(@Nullable Task before, Recipe recipe) throws IOException {
        return before == null ? Tasks.of(recipe) : before;
    }

    /** What the steps of trainings ran on. */
    static String computedBy(List<Trained> all) throws IOException {
        return all.isEmpty() ? "nothing" : all.getFirst().folder().provenance().kernel();
    }
}
