package dev.espalier.torture.file.reader;

import dev.espalier.train.journal.JsonFile;
import dev.espalier.train.journal.Provenance;
import dev.espalier.train.journal.RunFolder;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/** Where a run came from. */
public final class ProvenanceTarget extends RunFile {
    /** Called by the service loader. */
    public ProvenanceTarget() {
        super("provenance", RunFolder::provenanceFile);
    }

    @Override
    public List<byte[]> seeds(Path folder) {
        return List.of(
                bytes(JsonFile.text(new Provenance("1", "c", "now", 1, "25", "Linux", "x", 2, "e", "k", "cpu"))));
    }

    @Override
    void read(RunFolder run) throws IOException {
        run.provenance().withKernel("another");
    }
}
