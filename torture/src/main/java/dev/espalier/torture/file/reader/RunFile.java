package dev.espalier.torture.file.reader;

import dev.espalier.train.journal.RunFolder;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Function;

/** What the JSON files of a run have in common: they lie in its folder. */
abstract class RunFile extends SingleFile {
    RunFile(String name, Function<RunFolder, Path> file) {
        super(
                name,
                Structure.TEXT,
                String.valueOf(file.apply(new RunFolder(Path.of(""))).getFileName()));
    }

    @Override
    public List<String> words() {
        return List.of(
                "\"kind\"",
                "\"classes\"",
                "\"labels\"",
                "\"quantities\"",
                "\"fidelity\"",
                "\"answers\"",
                "\"metrics\"",
                "\"share\"",
                "\"lower\"",
                "\"train_score\"",
                "\"picture\"",
                "\"words\"");
    }

    @Override
    final void read(Path file) throws IOException {
        read(new RunFolder(file.toAbsolutePath().resolveSibling("")));
    }

    /** Reads the file in its run's folder, and looks at what it says. */
    abstract void read(RunFolder run) throws IOException;
}
