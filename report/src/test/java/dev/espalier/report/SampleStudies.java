package dev.espalier.report;

import dev.espalier.train.journal.JsonFile;
import dev.espalier.train.journal.Metric;
import dev.espalier.train.journal.Metrics;
import dev.espalier.train.journal.RunFolder;
import dev.espalier.train.journal.RunResult;
import dev.espalier.train.recipe.Recipe;
import dev.espalier.train.study.Outcome;
import dev.espalier.train.study.Outcome.End;
import dev.espalier.train.study.Plan;
import dev.espalier.train.study.Plan.Branch;
import dev.espalier.train.study.StudyResult;
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
import java.util.SplittableRandom;

/** Studies that nobody trained, with outcomes as they might be. */
final class SampleStudies {
    static final Metric ACCURACY = SampleRuns.ACCURACY;
    static final Metric ERROR = new Metric("mean_error", Metric.Unit.LABEL, Metric.Direction.LOWER);

    private static final Recipe RECIPE =
            Recipe.parse("sample", SampleRuns.RECIPE.formatted(1e-2), List.of("model.kind=small-cnn"));

    private SampleStudies() {}

    /** A plan of three axes: the strength of the penalty, the rate, and what optimises. */
    static Plan plan(Path root, int lambdas, int rates, List<Long> seeds) {
        List<Branch> branches = new ArrayList<>();
        Recipe recipe = RECIPE.withSeeds(seeds);
        for (int i = 0; i < lambdas; i++) {
            for (int j = 0; j < rates; j++) {
                for (String kind : List.of("adam", "sgd")) {
                    String lambda = Numbers.compact(1e-4 * Math.pow(200, i / Math.max(1.0, lambdas - 1)));
                    String rate = Numbers.compact(5e-4 * (1 + j));
                    SequencedMap<String, String> point = new LinkedHashMap<>();
                    point.put("penalty.lambda", lambda);
                    point.put("optimizer.rate", rate);
                    point.put("optimizer.kind", '"' + kind + '"');
                    branches.add(Branch.of(
                            root.toString(),
                            "lambda-%s,rate-%s,kind-%s".formatted(lambda, rate, kind),
                            recipe,
                            point,
                            false));
                }
            }
        }
        return new Plan(root.toString(), branches, Optional.empty());
    }

    static StudyResult of(Plan plan, Map<String, Outcome> outcomes) {
        return new StudyResult(plan, new LinkedHashMap<>(outcomes));
    }

    /** All trials of a plan up to some number are finished. */
    static SequencedMap<String, Outcome> finished(Plan plan, Metric metric, int number) {
        SequencedMap<String, Outcome> outcomes = new LinkedHashMap<>();
        for (Branch branch : plan.branches()) {
            for (Trial trial : branch.trials()) {
                if (outcomes.size() < number) {
                    outcomes.put(trial.name(), finished(trial, metric, branch));
                }
            }
        }
        return outcomes;
    }

    private static Outcome finished(Trial trial, Metric metric, Branch branch) {
        double lambda = Double.parseDouble(branch.point().getOrDefault("penalty.lambda", "1e-3"));
        double rate = Double.parseDouble(branch.point().getOrDefault("optimizer.rate", "1e-3"));
        boolean adam = branch.point().getOrDefault("optimizer.kind", "").contains("adam");
        SplittableRandom random = new SplittableRandom(trial.name().hashCode());
        double left = Math.clamp(
                0.012 / Math.pow(lambda / 1e-4, 0.55) * 40 * (0.8 + 0.4 * random.nextDouble()) * (adam ? 1 : 1.25),
                0.01,
                1);
        double accuracy = 0.945
                - 0.035 * Math.pow(1 - left, 6)
                - 0.012 * Math.pow(Math.log10(rate / 1.5e-3), 2) * 4
                - (adam ? 0 : 0.006)
                + 0.006 * (random.nextDouble() - 0.5);
        return result(trial, metric, metric.equals(ACCURACY) ? accuracy : 3 * (1 - accuracy), left);
    }

    /** A trial that came out well. */
    static Outcome result(Trial trial, Metric metric, double score, double left) {
        SequencedMap<Metric, Double> scores = new LinkedHashMap<>(Map.of(metric, score));
        double work = Math.min(1, 1.25 * left + 0.03);
        return new Outcome(
                trial.name(),
                End.FINISHED,
                JsonFile.line(new RunResult(
                        1,
                        690,
                        111,
                        1e-3,
                        0.08,
                        scores,
                        scores,
                        Math.min(1, 1.1 * left),
                        Math.min(1, 1.1 * left),
                        68_170,
                        Math.round(68_170 * left),
                        6_120_448,
                        Math.round(6_120_448 * work),
                        1e-6,
                        0.231,
                        0.231 * (0.15 + 0.85 * work),
                        RunResult.Files.UNKNOWN)));
    }

    static Metrics metrics(Metric metric, double epoch, double score) {
        SequencedMap<Metric, Double> scores = new LinkedHashMap<>(Map.of(metric, score));
        return new Metrics(
                Math.round(epoch * 23),
                epoch,
                "sparsify",
                3.7 * epoch,
                420,
                1e-3,
                1e-3,
                0.5,
                scores,
                1,
                0.5,
                scores,
                0.75,
                1,
                0,
                new LinkedHashMap<>(),
                new LinkedHashMap<>());
    }

    static Outcome paused(Trial trial, double epoch, double score) {
        return new Outcome(trial.name(), End.PAUSED, JsonFile.line(metrics(ACCURACY, epoch, score)));
    }

    static Outcome leftBehind(Trial trial, double epoch, double score) {
        return new Outcome(trial.name(), End.LEFT_BEHIND, JsonFile.line(metrics(ACCURACY, epoch, score)));
    }

    /** Makes a trial's folder look as if this process trained in it. */
    static void train(Path root, Trial trial, int epochs) throws IOException {
        RunFolder folder = new RunFolder(root.resolve(trial.name()));
        Files.createDirectories(folder.path());
        for (int epoch = 1; epoch <= epochs; epoch++) {
            folder.append(metrics(ACCURACY, epoch, 0.93 - 0.5 / epoch));
        }
        folder.enter();
    }

    /** A study in the middle: most trials are finished, some run, one failed, one was given up, the rest wait. */
    static StudyResult underWay(Path root, int lambdas, int rates, List<Long> seeds) throws IOException {
        Plan plan = plan(root, lambdas, rates, seeds);
        List<Trial> trials = plan.trials();
        int done = trials.size() * 3 / 4;
        SequencedMap<String, Outcome> outcomes = finished(plan, ACCURACY, done);
        String failed = trials.get(done / 2).name();
        outcomes.put(
                failed,
                new Outcome(
                        failed,
                        End.FAILED,
                        "the worker <node-7> was lost: java.io.IOException: Connection reset by peer"));
        String nowhere = trials.get(done / 3).name();
        outcomes.put(
                nowhere,
                new Outcome(
                        nowhere,
                        End.GIVEN_UP,
                        "the loss is not finite after epoch 3: choose a smaller optimizer.rate"));
        for (int i = 0; i < 4 && done + i < trials.size(); i++) {
            train(root, trials.get(done + i), 7 + 5 * i);
        }
        return of(plan, outcomes);
    }

    /** A study that was halved twice: of 3 × 3 × 2 points, 9 and then 5 go on. */
    static StudyResult halved(Path root) {
        Plan plan = plan(root, 3, 3, List.of(1L));
        SequencedMap<String, Outcome> outcomes = new LinkedHashMap<>();
        List<Trial> trials = plan.trials();
        for (int i = 0; i < trials.size(); i++) {
            Trial trial = trials.get(i);
            outcomes.put(
                    trial.name(),
                    i < 5
                            ? result(trial, ACCURACY, 0.9 + 0.005 * i, 0.1 + 0.1 * i)
                            : leftBehind(trial, i < 9 ? 20 : 10, 0.8 - 0.01 * i));
        }
        return of(plan, outcomes);
    }

    /** Writes pages to look at. */
    static void main(String[] arguments) throws IOException {
        Path root = Path.of(arguments[0]);
        Files.createDirectories(root);
        Path many = Files.createDirectories(root.resolve("many"));
        StudyPage.of("How much of a small network can go", underWay(many, 8, 5, List.of(1L, 2L, 3L)))
                .write(many.resolve(StudyPage.FILE));
        Path most = Files.createDirectories(root.resolve("most"));
        Plan plan = plan(most, 25, 20, List.of(1L));
        long begun = System.nanoTime();
        StudyPage.of("A thousand trials", of(plan, finished(plan, ERROR, 1000))).write(most.resolve(StudyPage.FILE));
        System.out.println("a thousand: " + (System.nanoTime() - begun) / 1_000_000 + " ms");
        Path halved = Files.createDirectories(root.resolve("halved"));
        StudyPage.of("Successive halving", halved(halved)).write(halved.resolve(StudyPage.FILE));
        Path one = Files.createDirectories(root.resolve("one"));
        Plan single = plan(one, 1, 1, List.of(1L));
        StudyPage.of(
                        "One trial",
                        of(
                                new Plan(one.toString(), single.branches().subList(0, 1), Optional.empty()),
                                finished(single, ACCURACY, 1)))
                .write(one.resolve(StudyPage.FILE));
        Path none = Files.createDirectories(root.resolve("none"));
        StudyPage.of("Nothing yet", of(plan(none, 3, 2, List.of(1L, 2L)), Map.of()))
                .write(none.resolve(StudyPage.FILE));
    }
}
