package dev.espalier.train.study;

import dev.espalier.train.recipe.Recipe;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.Set;
import java.util.function.UnaryOperator;

/**
 * The trials of a study, before anything is trained.
 *
 * @param root the folder of the study: a path, or a URI that a {@link Storage} knows
 * @param branches its trials, those that differ in nothing but their seeds together
 * @param halving when the worst of them are left behind; empty for never
 */
public record Plan(String root, List<Branch> branches, Optional<Halving> halving) {

    /** Checks that every trial has a name of its own, and that what it needs is there. */
    public Plan {
        branches = List.copyOf(branches);
        Set<String> names = new HashSet<>();
        for (Branch branch : branches) {
            for (Trial trial : branch.trials()) {
                if (!names.add(trial.name())) {
                    throw new IllegalArgumentException(
                            "two trials are called \"%s\": give each value of an axis, and each seed, once"
                                    .formatted(trial.name()));
                }
            }
        }
        for (Branch branch : branches) {
            for (Trial trial : branch.trials()) {
                for (String needed : trial.needs()) {
                    if (!names.contains(needed)) {
                        throw new IllegalArgumentException(
                                "%s needs %s, which is no trial of this study".formatted(trial.label(), needed));
                    }
                }
            }
        }
        requireNoCircle(branches);
        if (halving.isPresent() && branches.stream().flatMap(branch -> branch.trials().stream()).anyMatch(trial -> !trial.needs().isEmpty())) {
            throw new IllegalArgumentException(
                    "trials that start from others cannot be halved: the worst would be left behind before those that start from them begin;"
                            + " leave out [chain] or [halving]");
        }
        if (halving.isPresent()) {
            for (Branch branch : branches) {
                halving.get().requireFits(branch.recipe());
            }
        }
    }

    private static void requireNoCircle(List<Branch> branches) {
        Map<String, Trial> left = new HashMap<>();
        branches.forEach(branch -> branch.trials().forEach(trial -> left.put(trial.name(), trial)));
        boolean some = true;
        while (some && !left.isEmpty()) {
            some = left.values().removeIf(trial -> trial.needs().stream().noneMatch(left::containsKey));
        }
        if (!left.isEmpty()) {
            throw new IllegalArgumentException(
                    "these trials wait for each other: " + String.join(", ", left.keySet().stream().sorted().toList()));
        }
    }

    /**
     * One point of a study: a recipe, with a trial for each of its seeds.
     *
     * @param name the folder within the study; empty for the study's own
     * @param recipe how to train, with all seeds
     * @param point what it has otherwise than others, TOML by key, {@code penalty.lambda} for one
     * @param trials a trial for each seed
     */
    public record Branch(String name, Recipe recipe, SequencedMap<String, String> point, List<Trial> trials) {
        /** Copies the lists. */
        public Branch {
            point = java.util.Collections.unmodifiableSequencedMap(new LinkedHashMap<>(point));
            trials = List.copyOf(trials);
        }

        /**
         * A point whose trials start from fresh weights.
         *
         * @param root the folder of the study
         * @param name the folder within it
         * @param recipe how to train, with all seeds
         * @param point what it has otherwise than others
         * @param seedFolders whether even a single seed has a folder of its own
         * @return the branch
         */
        public static Branch of(
                String root, String name, Recipe recipe, SequencedMap<String, String> point, boolean seedFolders) {
            List<Long> seeds = recipe.training().seeds();
            List<Trial> trials = new ArrayList<>();
            for (long seed : seeds) {
                String folder = seeds.size() == 1 && !seedFolders ? name : Storage.path(name, "seed-" + seed);
                Trial trial = new Trial(root, folder, recipe.withSeed(seed));
                trials.add(
                        recipe.needsPrices() && !trials.isEmpty()
                                ? trial.withPricesOf(trials.getFirst().name())
                                : trial);
            }
            return new Branch(name, recipe, point, trials);
        }

        /**
         * {@return the same with other trials}
         *
         * @param change from one to the other
         */
        public Branch with(UnaryOperator<Trial> change) {
            return new Branch(name, recipe, point, trials.stream().map(change).toList());
        }

        /**
         * {@return the same, each trial from where that of another branch with the same seed ended}
         *
         * @param other the other branch
         */
        public Branch startingFrom(Branch other) {
            List<Trial> warm = new ArrayList<>();
            for (int i = 0; i < trials.size(); i++) {
                warm.add(trials.get(i).startingFrom(other.trials().get(i).name()));
            }
            return new Branch(name, recipe, point, warm);
        }

        /** {@return whether the seeds have folders of their own, and the branch one around them} */
        public boolean hasSeedFolders() {
            return !trials.getFirst().name().equals(name);
        }
    }

    /** {@return all trials} */
    public List<Trial> trials() {
        return branches.stream().flatMap(branch -> branch.trials().stream()).toList();
    }

    /**
     * {@return the same with other trials}
     *
     * @param change from one to the other
     */
    public Plan with(UnaryOperator<Trial> change) {
        return new Plan(root, branches.stream().map(branch -> branch.with(change)).toList(), halving);
    }
}
