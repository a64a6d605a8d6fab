package dev.espalier.train.study;

import dev.espalier.core.check.Reading;
import dev.espalier.settings.Form;
import dev.espalier.settings.Key;
import dev.espalier.settings.Range;
import dev.espalier.settings.Section;
import dev.espalier.settings.Settings;
import dev.espalier.train.recipe.Recipe;
import dev.espalier.train.recipe.TrainingRecipe.PruneFor;
import dev.espalier.train.study.Plan.Branch;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.SequencedMap;
import java.util.function.BiFunction;
import java.util.stream.Collectors;

/**
 * What a study file says: a recipe, what of it is varied, and when to leave trials behind. It is expanded into a {@link Plan}.
 */
public final class Study {
    /** No study has more points; one that asks for them would not even be listed. */
    static final int MOST_POINTS = 100_000;

    private static final String AXES = "axes";

    private static final Key<String> RECIPE =
            Key.location("study.recipe", "the recipe that is varied, relative to the folder of the study's file");
    private static final Key<List<Long>> SEEDS = Key.longWholes(
                    "study.seeds", "a trial for each at every point; those of the recipe if there is none")
            .withDefault(List.of());
    private static final Key<List<String>> SET = Key.texts(
                    "study.set", "other values for keys of the recipe at every point, such as \"training.epochs=5\"")
            .withDefault(List.of());
    private static final Key<Integer> THREADS = Key.whole(
                    "study.threads", "threads of the CPU that compute a trial; last digits may depend on their number")
            .in(Range.atLeast(1))
            .withDefault(1);
    private static final Key<String> ALONG = Key.text(
                    "chain.along",
                    "the axis along which each trial starts from where the one before it ended; fresh weights for all if empty")
            .withDefault("");
    private static final Key<Integer> FIRST = Key.whole(
                    "halving.first", "the epoch after which only the best go on, for the first time; 0 for never")
            .in(Range.atLeast(0))
            .withDefault(0);
    private static final Key<Integer> FACTOR = Key.whole(
                    "halving.factor", "of how many one goes on, and how many times later the next look is")
            .in(Range.atLeast(2))
            .withDefault(3);
    private static final Key<Integer> TRIALS = Key.whole(
                    "budget.trials", "no more trials than that, the first ones; 0 for all")
            .in(Range.atLeast(0))
            .withDefault(0)
            .changeable();
    private static final Key<Integer> MINUTES = Key.whole(
                    "budget.minutes",
                    "after that long everything is stopped, and goes on with the next call; 0 for never")
            .in(Range.atLeast(0))
            .withDefault(0)
            .changeable();

    /** What a study's file can say. */
    public static final Form FORM = new Form(
            "study",
            List.of(
                    Section.of("study", List.of(RECIPE, SEEDS, SET, THREADS)),
                    Section.of("chain", List.of(ALONG)),
                    Section.of("halving", List.of(FIRST, FACTOR)),
                    Section.of("budget", List.of(TRIALS, MINUTES))),
            List.of(),
            List.of(AXES));

    private final Settings settings;
    private final String recipeName;
    private final String recipe;
    private final List<Axis> axes;

    private Study(Settings settings, String recipeName, String recipe) {
        this.settings = settings;
        this.recipeName = recipeName;
        this.recipe = recipe;
        this.axes = Axis.of(settings.open(AXES));
        if (!along().isEmpty() && axes.stream().noneMatch(axis -> axis.key().equals(along()))) {
            throw new IllegalArgumentException("chain.along = \"%s\" is no axis of this study: there are %s"
                    .formatted(along(), axes.stream().map(Axis::key).collect(Collectors.joining(", "))));
        }
    }

    /**
     * Reads a study, and the recipe that it names.
     *
     * @param file the file, TOML
     * @param overrides values that replace those of the file, each as {@code section.key=value}
     * @return the study
     * @throws IOException if a file cannot be read
     * @throws dev.espalier.settings.SettingsException if the study cannot be followed
     */
    public static Study read(Path file, List<String> overrides) throws IOException {
        Settings settings = FORM.read(file, overrides);
        Path base = file.toAbsolutePath().resolveSibling(settings.of(RECIPE));
        return new Study(settings, base.getFileName().toString(), Reading.text(base));
    }

    /**
     * Reads a study from texts.
     *
     * @param toml the study
     * @param recipe the recipe that is varied, whatever the study calls it
     * @return the study
     */
    public static Study parse(String toml, String recipe) {
        Settings settings = FORM.parse("the study", toml, List.of());
        return new Study(settings, settings.of(RECIPE), recipe);
    }

    private String along() {
        return settings.of(ALONG);
    }

    /** {@return what is varied} */
    public List<Axis> axes() {
        return axes;
    }

    /** {@return threads of the CPU that compute a trial} */
    public int threads() {
        return settings.of(THREADS);
    }

    /** {@return after how many minutes everything is stopped; empty for never} */
    public OptionalInt minutes() {
        int minutes = settings.of(MINUTES);
        return minutes == 0 ? OptionalInt.empty() : OptionalInt.of(minutes);
    }

    /** {@return the study as it was read, defaults written out} */
    public String toToml() {
        return settings.toToml();
    }

    /**
     * Expands it: a branch for every combination of values, the last axis fastest.
     *
     * @param root the folder of the study: a path, or a URI that a {@link Storage} knows
     * @return the trials
     * @throws IllegalArgumentException if some combination makes no recipe, with what is wrong
     */
    public Plan plan(String root) {
        List<SequencedMap<String, String>> points = new ArrayList<>(List.of(new LinkedHashMap<>()));
        for (Axis axis : axes) {
            long count = (long) points.size() * axis.values().size();
            if (count > MOST_POINTS) {
                throw new IllegalArgumentException(
                        "the axes have more than %,d points, %,d with axes.%s: give some of them fewer values"
                                .formatted(MOST_POINTS, count, axis.key()));
            }
            List<SequencedMap<String, String>> more = new ArrayList<>();
            for (SequencedMap<String, String> point : points) {
                for (String value : axis.values()) {
                    SequencedMap<String, String> further = new LinkedHashMap<>(point);
                    further.put(axis.key(), value);
                    more.add(further);
                }
            }
            points = more;
        }
        BiFunction<String, List<String>, Recipe> variants = Recipe.variants(recipeName, recipe);
        List<Branch> branches = new ArrayList<>();
        Map<SequencedMap<String, String>, Branch> last = new HashMap<>();
        for (SequencedMap<String, String> point : points) {
            branches.add(chained(branch(root, point, variants), last));
        }
        return new Plan(root, first(branches), halving());
    }

    private Branch branch(
            String root, SequencedMap<String, String> point, BiFunction<String, List<String>, Recipe> variants) {
        List<String> overrides = new ArrayList<>(settings.of(SET));
        point.forEach((key, value) -> overrides.add(key + "=" + value));
        Recipe varied = variants.apply(source(point), overrides);
        if (!settings.of(SEEDS).isEmpty()) {
            varied = varied.withSeeds(settings.of(SEEDS));
        }
        if (varied.training().pruneFor() == PruneFor.AUTO) {
            // By the clock, trials that run at once would disturb each other, and no two studies were equal.
            varied = varied.prunedFor(PruneFor.SIZE);
        }
        return Branch.of(root, name(point), varied, point, false).with(trial -> trial.onThreads(threads()));
    }

    private String source(SequencedMap<String, String> point) {
        return point.isEmpty()
                ? recipeName
                : recipeName + " with "
                        + point.entrySet().stream()
                                .map(value -> value.getKey() + " = " + value.getValue())
                                .collect(Collectors.joining(", "));
    }

    private String name(SequencedMap<String, String> point) {
        return point.entrySet().stream()
                .map(value -> label(value.getKey()) + "-" + folder(value.getValue()))
                .collect(Collectors.joining(","));
    }

    /** The name within the section, unless two axes share it. */
    private String label(String key) {
        String name = key.substring(key.indexOf('.') + 1);
        boolean clear = axes.stream()
                        .map(Axis::key)
                        .filter(other -> other.endsWith("." + name))
                        .count()
                == 1;
        return clear ? name : key;
    }

    private static String folder(String value) {
        try {
            return Axis.number(Double.parseDouble(value));
        } catch (NumberFormatException _) {
            return value.replaceAll("[^A-Za-z0-9.+-]+", "_").replaceAll("^_|_$", "");
        }
    }

    /**
     * From where the last branch ended that differs along the chain's axis only.
     *
     * @param last the last branch of each chain, by what its branches have in common
     */
    private Branch chained(Branch fresh, Map<SequencedMap<String, String>, Branch> last) {
        if (along().isEmpty()) {
            return fresh;
        }
        SequencedMap<String, String> common = new LinkedHashMap<>(fresh.point());
        common.remove(along());
        Branch before = last.get(common);
        Branch branch = before == null ? fresh : fresh.startingFrom(before);
        last.put(common, branch);
        return branch;
    }

    private List<Branch> first(List<Branch> branches) {
        int most = settings.of(TRIALS);
        if (most == 0) {
            return branches;
        }
        List<Branch> some = new ArrayList<>();
        int left = most;
        for (Branch branch : branches) {
            if (left > 0) {
                some.add(new Branch(
                        branch.name(),
                        branch.recipe(),
                        branch.point(),
                        branch.trials()
                                .subList(0, Math.min(left, branch.trials().size()))));
                left -= branch.trials().size();
            }
        }
        return some;
    }

    private Optional<Halving> halving() {
        int first = settings.of(FIRST);
        return first == 0 ? Optional.empty() : Optional.of(new Halving(first, settings.of(FACTOR)));
    }
}
