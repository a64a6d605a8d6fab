package dev.espalier.reproduce;

import dev.espalier.core.check.Check;
import dev.espalier.train.run.RunOptions;
import dev.espalier.train.study.Launching;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.LongStream;

/**
 * How an item is to be reproduced.
 *
 * @param scale how much effort is spent
 * @param data the folder of the real data; empty if none was given
 * @param seeds a run for each, all different
 * @param rows which of the item's rows are to be run, by {@link Item#rows}; all if there is none
 * @param changes what trainings have otherwise than their recipes say, such as {@code training.precision=tf32}
 * @param folder where everything is written; made when there is something to write. What an earlier run has left there is
 *     gone on with
 * @param run where models are trained, who is told how it goes, and when to stop
 * @param launching what carries the trainings of tables out
 */
public record Setting(
        Scale scale,
        Optional<Path> data,
        List<Long> seeds,
        List<String> rows,
        List<String> changes,
        Path folder,
        RunOptions run,
        Launching launching) {

    /** Copies the lists, and checks the seeds. */
    public Setting {
        seeds = List.copyOf(seeds);
        rows = List.copyOf(rows);
        changes = List.copyOf(changes);
        Check.atLeast("seeds", seeds.size(), 1);
        if (new HashSet<>(seeds).size() < seeds.size()) {
            throw new IllegalArgumentException("seeds %s: one of them is there twice; give each once".formatted(seeds));
        }
    }

    /**
     * All rows as their recipes are.
     *
     * @param scale how much effort is spent
     * @param data the folder of the real data; empty if none was given
     * @param seedCount number of runs that differ in their seeds only: 1, 2, …
     * @param folder where everything is written
     * @param run where models are trained, who is told how it goes, and when to stop
     */
    public Setting(Scale scale, Optional<Path> data, int seedCount, Path folder, RunOptions run) {
        this(scale, data, firstSeeds(seedCount), List.of(), List.of(), folder, run, Launching.DIRECT);
    }

    private static List<Long> firstSeeds(int count) {
        return LongStream.rangeClosed(1, count).boxed().toList();
    }

    /**
     * The same with other seeds.
     *
     * @param others a run for each
     * @return the setting
     */
    public Setting withSeeds(List<Long> others) {
        return new Setting(scale, data, others, rows, changes, folder, run, launching);
    }

    /**
     * The same for some rows only.
     *
     * @param some their names; none for all
     * @return the setting
     */
    public Setting withRows(List<String> some) {
        return new Setting(scale, data, seeds, some, changes, folder, run, launching);
    }

    /**
     * The same with trainings that are otherwise than their recipes say.
     *
     * @param others such as {@code training.precision=tf32}
     * @return the setting
     */
    public Setting withChanges(List<String> others) {
        return new Setting(scale, data, seeds, rows, others, folder, run, launching);
    }

    /**
     * The same carried out by others.
     *
     * @param others what carries the trainings of tables out
     * @return the setting
     */
    public Setting withLaunching(Launching others) {
        return new Setting(scale, data, seeds, rows, changes, folder, run, others);
    }

    /**
     * Whether a row is to be run.
     *
     * @param row its name
     * @return true if it was named, or none was
     */
    boolean wants(String row) {
        return rows.isEmpty() || rows.contains(row);
    }

    /**
     * The option that chooses these seeds.
     *
     * @return such as {@code --seeds 3} for 1, 2 and 3, or {@code --seed 2,3}
     */
    public String seedOption() {
        return seeds.equals(firstSeeds(seeds.size()))
                ? "--seeds " + seeds.size()
                : "--seed " + seeds.stream().map(String::valueOf).collect(Collectors.joining(","));
    }

    /**
     * The folder of the real data.
     *
     * @param name what data is needed
     * @param fetch the command that fetches it
     * @return the folder
     * @throws IllegalArgumentException if none was given
     */
    public Path requireData(String name, String fetch) {
        return data.orElseThrow(() -> new IllegalArgumentException(
                "--scale full needs %s: fetch it with '%s' and give its folder with --data DIR, or use --scale small"
                        .formatted(name, fetch)));
    }

    /**
     * The folder of CIFAR-10.
     *
     * @return the folder
     * @throws IllegalArgumentException if none was given
     */
    public Path requireCifar10() {
        return requireData("CIFAR-10", "espalier data cifar10 DIR");
    }

    /** Where trainings are: items that share the folder, and scales, must not take each other's. */
    Path trainings() {
        return folder.resolve(scale.toString());
    }

    /**
     * Tells the user something.
     *
     * @param text a sentence
     */
    public void note(String text) {
        run.listener().onNote(text);
    }
}
