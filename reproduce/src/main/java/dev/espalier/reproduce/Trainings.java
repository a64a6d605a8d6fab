package dev.espalier.reproduce;

import dev.espalier.report.ReportAtEnd;
import dev.espalier.train.journal.RunFolder;
import dev.espalier.train.journal.RunResult;
import dev.espalier.train.recipe.Recipe;
import dev.espalier.train.run.TrainingListener;
import dev.espalier.train.run.TrainingRun;
import dev.espalier.train.study.Launcher;
import dev.espalier.train.study.Outcome;
import dev.espalier.train.study.Outcome.End;
import dev.espalier.train.study.Plan;
import dev.espalier.train.study.Plan.Branch;
import dev.espalier.train.study.StudyListener;
import dev.espalier.train.study.StudyResult;
import dev.espalier.train.study.StudyRun;
import dev.espalier.train.study.Trial;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.function.Supplier;

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
        return run(new LinkedHashMap<>(Map.of(name, recipe)))
                .map(all -> all.firstEntry().getValue());
    }

    /**
     * The same for several at once, as a study.
     *
     * @param wanted recipes by the names of their folders
     * @return by name, a training for each seed, but for those that were given up or failed; empty if something was stopped
     */
    Optional<SequencedMap<String, List<Trained>>> run(SequencedMap<String, Recipe> wanted) throws IOException {
        List<Branch> branches = new ArrayList<>();
        for (Map.Entry<String, Recipe> one : wanted.entrySet()) {
            List<Long> seeds = new ArrayList<>();
            for (long seed : setting.seeds()) {
                if (finished(one.getValue().withSeed(seed), place(one.getKey()).seed(seed))
                        .isEmpty()) {
                    seeds.add(seed);
                }
            }
            if (!seeds.isEmpty()) {
                branches.add(branch(one.getKey(), one.getValue().withSeeds(seeds)));
            }
        }
        if (!branches.isEmpty() && isStopped(new Plan(setting.trainings().toString(), branches, Optional.empty()))) {
            return Optional.empty();
        }
        SequencedMap<String, List<Trained>> all = new LinkedHashMap<>();
        for (Map.Entry<String, Recipe> one : wanted.entrySet()) {
            List<Trained> trained = new ArrayList<>();
            for (long seed : setting.seeds()) {
                Recipe recipe = one.getValue().withSeed(seed);
                RunFolder folder = place(one.getKey()).seed(seed);
                finished(recipe, folder).ifPresent(result -> trained.add(new Trained(recipe, folder, result)));
            }
            all.put(one.getKey(), trained);
        }
        return Optional.of(all);
    }

    private Branch branch(String name, Recipe recipe) {
        return Branch.of(setting.trainings().toString(), name, recipe, new LinkedHashMap<>(), true)
                .with(trial -> trial.on(setting.run().device()));
    }

    private boolean isStopped(Plan plan) throws IOException {
        TrainingListener told = setting.run().listener();
        try (Launcher launcher = setting.launching()
                .open(
                        trial -> {
                            setting.note(trial.name().replace("/seed-", ", seed "));
                            return told.and(new ReportAtEnd());
                        },
                        setting.run().stop())) {
            return new StudyRun(plan, launcher, new LeftOut(told), setting.run().stop())
                    .run()
                    .isStopped();
        }
    }

    /** Says what came to nothing. */
    private record LeftOut(TrainingListener told) implements StudyListener {
        @Override
        public void onEnd(Trial trial, Outcome outcome, Supplier<StudyResult> soFar) {
            if (outcome.end() == End.GIVEN_UP || outcome.end() == End.FAILED) {
                told.onNote("%s is left out: %s".formatted(trial.label(), outcome.text()));
            }
        }
    }

    /** What is finished may be of another precision; what is not goes on as it was begun. */
    private static Optional<RunResult> finished(Recipe recipe, RunFolder folder) throws IOException {
        return Files.exists(folder.recipe())
                        && Variant.of(recipe, Recipe.read(folder.recipe(), List.of()))
                                .isNone()
                ? folder.result()
                : TrainingRun.finished(recipe, folder);
    }

    /** What the steps of trainings ran on. */
    static String computedBy(List<Trained> all) throws IOException {
        return all.isEmpty() ? "nothing" : all.getFirst().folder().provenance().kernel();
    }
}
