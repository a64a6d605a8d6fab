package dev.espalier.torture.file.reader;

import dev.espalier.data.table.CellFile;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** Rows for a trained model, a JSON object a line. */
public final class LinesTarget extends SingleFile {
    /** Called by the service loader. */
    public LinesTarget() {
        super("jsonl", Structure.TEXT, "rows.jsonl");
    }

    @Override
    public List<byte[]> seeds(Path folder) {
        return List.of(bytes("{\"a\": 1, \"b\": \"x\", \"c\": null}\n{\"a\": 2.5, \"b\": \"\\u00e4\", \"c\": true}\n"));
    }

    @Override
    void read(Path file) throws IOException {
        readAll(CellFile.of(file, true, Optional.empty()));
    }

    /** Reads all rows; what is wrong with some is told to a visitor. */
    static void readAll(CellFile rows) throws IOException {
        rows.forEach(rows.columns(), new CellFile.Visitor() {
            @Override
            public void row(long place, List<String> cells) {
                cells.forEach(SingleFile::look);
            }

            @Override
            public void problem(long place, String problem) {
                look(problem);
            }
        });
    }
}
