package dev.espalier.train.run;

import dev.espalier.train.journal.RunFolder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** How far what is in a folder has come: a run, one with several seeds, or a sweep. */
public enum Standing {
    /** No training began here. */
    NOTHING,
    /** A training began, and ended before it wrote a checkpoint: it can only begin again. */
    LOST,
    /** There is something to go on from. */
    STOPPED,
    /** Whatever began here is done. */
    FINISHED;

    /**
     * Looks at a folder.
     *
     * @param folder the folder; it may not be there
     * @return how far it has come
     * @throws IOException if it cannot be read
     */
    public static Standing of(RunFolder folder) throws IOException {
        if (!Files.isDirectory(folder.path())) {
            return NOTHING;
        }
        // A sweep's folder holds runs, and has nothing of a run itself.
        return isRun(folder) ? ofRun(folder) : ofAll(within(folder));
    }

    private static boolean isRun(RunFolder folder) throws IOException {
        return Files.exists(folder.recipe()) || Files.exists(folder.resultFile()) || Checkpoints.anyIn(folder);
    }

    private static Standing ofRun(RunFolder folder) throws IOException {
        if (Files.exists(folder.resultFile())) {
            return FINISHED;
        }
        if (Checkpoints.anyIn(folder)) {
            return STOPPED;
        }
        List<RunFolder> seeds = folder.runs();
        return seeds.contains(folder) ? LOST : ofAll(seeds);
    }

    private static List<RunFolder> within(RunFolder folder) throws IOException {
        try (Stream<Path> entries = Files.list(folder.path())) {
            return entries.filter(Files::isDirectory).map(RunFolder::new).toList();
        }
    }

    /** What several make together: done if all are, and with something to go on from if one has. */
    private static Standing ofAll(List<RunFolder> runs) throws IOException {
        List<Standing> all = new ArrayList<>();
        for (RunFolder run : runs) {
            if (isRun(run)) {
                all.add(ofRun(run));
            }
        }
        if (all.isEmpty()) {
            return NOTHING;
        }
        if (all.stream().allMatch(FINISHED::equals)) {
            return FINISHED;
        }
        return all.stream().allMatch(LOST::equals) ? LOST : STOPPED;
    }
}
