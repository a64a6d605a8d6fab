package dev.espalier.train.study;

import dev.espalier.core.check.Check;
import dev.espalier.engine.Device;
import dev.espalier.train.journal.JsonFile;
import dev.espalier.train.recipe.Recipe;
import java.io.IOException;
import java.util.List;

/**
 * One training of a study, as text: all that anybody needs to carry it out. Whoever does, wherever, gets the same bytes.
 *
 * @param root the folder of the study: a path, or a URI that a {@link Storage} knows
 * @param name the folder of the trial within it, {@code lambda-1e-3/seed-1} for one; empty for the root itself
 * @param recipe how to train, TOML, with one seed
 * @param start the name of the trial from whose trained model this one starts; {@link #FRESH} for fresh weights
 * @param prices the name of the trial that measures how long layers take, where the recipe needs to know; its own if it does itself
 * @param untilEpoch after which epoch it pauses; 0 for never
 * @param threads how many threads compute an operation on the CPU, which may change last digits; 0 for as many as there are cores
 * @param device where the model is, {@code cpu} or {@code gpu:1} for one
 */
public record Trial(
        String root,
        String name,
        String recipe,
        String start,
        String prices,
        int untilEpoch,
        int threads,
        String device) {
    /** What a trial starts from that starts from no other. */
    public static final String FRESH = "-";

    /** Checks the numbers. */
    public Trial {
        Check.atLeast("untilEpoch", untilEpoch, 0);
        Check.atLeast("threads", threads, 0);
    }

    /**
     * A trial from fresh weights, to the end, on the CPU.
     *
     * @param root the folder of the study
     * @param name the folder of the trial within it
     * @param recipe how to train, with one seed
     */
    public Trial(String root, String name, Recipe recipe) {
        this(root, name, recipe.toToml(), FRESH, name, 0, 0, Device.CPU.toString());
    }

    /**
     * {@return the same from where another ended}
     *
     * @param other the other's name
     */
    public Trial startingFrom(String other) {
        return new Trial(root, name, recipe, other, prices, untilEpoch, threads, device);
    }

    /**
     * {@return the same with what another measures of layers}
     *
     * @param other the other's name
     */
    public Trial withPricesOf(String other) {
        return new Trial(root, name, recipe, start, other, untilEpoch, threads, device);
    }

    /**
     * {@return the same up to an epoch}
     *
     * @param epoch after which it pauses; 0 for never
     */
    public Trial until(int epoch) {
        return new Trial(root, name, recipe, start, prices, epoch, threads, device);
    }

    /**
     * {@return the same on so many threads}
     *
     * @param number how many; 0 for as many as there are cores
     */
    public Trial onThreads(int number) {
        return new Trial(root, name, recipe, start, prices, untilEpoch, number, device);
    }

    /**
     * {@return the same elsewhere}
     *
     * @param other where the model is
     */
    public Trial on(Device other) {
        return new Trial(root, name, recipe, start, prices, untilEpoch, threads, other.toString());
    }

    /** {@return what messages call it} */
    public String label() {
        return name.isEmpty() ? "the training" : name;
    }

    /** {@return the names of the trials that must be finished before} */
    public List<String> needs() {
        return List.of(start, prices).stream()
                .filter(other -> !other.equals(FRESH) && !other.equals(name))
                .distinct()
                .toList();
    }

    /** {@return the recipe as an object} */
    public Recipe parsed() {
        return Recipe.parse(label(), recipe, List.of());
    }

    /** {@return the trial as JSON, on one line} */
    public String toJson() {
        return JsonFile.line(this);
    }

    /**
     * Reads a trial.
     *
     * @param json what {@link #toJson} wrote
     * @return the trial
     * @throws IOException if it is none
     */
    public static Trial parse(String json) throws IOException {
        return JsonFile.parse("a trial", json, Trial.class);
    }
}
