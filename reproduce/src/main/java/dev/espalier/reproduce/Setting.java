package dev.espalier.reproduce;

import dev.espalier.core.check.Check;
import dev.espalier.train.run.RunOptions;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.LongStream;

/**
 * How an item is to be reproduced.
 *
 * @param scale how much effort is spent
 * @param data the folder of the real data; empty if none was given
 * @param seedCount number of runs that differ in their seeds only
 * @param folder where everything is written; made when there is something to write. What an earlier run has left there is
 *     gone on with
 * @param run where models are trained, who is told how it goes, and when to stop
 */
public record Setting(Scale scale, Optional<Path> data, int seedCount, Path folder, RunOptions run) {

    /** Checks the number of seeds. */
    public Setting {
        Check.atLeast("seeds", seedCount, 1);
    }

    /**
     * The seeds.
     *
     * @return 1, 2, …
     */
    public List<Long> seeds() {
        return LongStream.rangeClosed(1, seedCount).boxed().toList();
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

    /**
     * Tells the user something.
     *
     * @param text a sentence
     */
    public void note(String text) {
        run.listener().onNote(text);
    }
}
