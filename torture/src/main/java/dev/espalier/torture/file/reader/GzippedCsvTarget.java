package dev.espalier.torture.file.reader;

import dev.espalier.data.table.CellFile;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** Rows for a trained model, in compressed CSV. */
public final class GzippedCsvTarget extends SingleFile {
    /** Called by the service loader. */
    public GzippedCsvTarget() {
        super("gzip", Structure.BYTES, "rows.csv.gz");
    }

    @Override
    public List<byte[]> seeds(Path folder) throws IOException {
        return List.of(Gzipped.of(bytes(CsvTarget.TABLE)), Gzipped.of(bytes("a,b\n" + "1,2\n".repeat(20_000))));
    }

    /** A byte of deflate's stands for up to 1032, each of which may take what it takes in a file that is not compressed. */
    @Override
    public Memory memory() {
        Memory plain = super.memory();
        return new Memory(plain.constant(), 1032 * plain.multiple());
    }

    @Override
    void read(Path file) throws IOException {
        LinesTarget.readAll(CellFile.of(file, true, Optional.empty()));
    }
}
