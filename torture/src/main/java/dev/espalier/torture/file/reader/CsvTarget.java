package dev.espalier.torture.file.reader;

import dev.espalier.data.Context;
import dev.espalier.data.DataSection;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/** Tables in CSV, as data to train with. */
public final class CsvTarget extends SingleFile {
    static final String TABLE =
            "a,b,name,label\n" + "1,2.5,\"red, dark\",yes\n2,-1e3,blue,no\n3,0.5,\"say \"\"x\"\"\",yes\n".repeat(6);

    /** Called by the service loader. */
    public CsvTarget() {
        super("csv", Structure.TEXT, "table.csv");
    }

    @Override
    public List<byte[]> seeds(Path folder) {
        return List.of(bytes(TABLE));
    }

    @Override
    public List<String> words() {
        return List.of(",", ",,", "\"", "\"\"", ";", "\t", "nan", "NA", "1,5");
    }

    @Override
    void read(Path file) throws IOException {
        DataSection.load(DataSection.read("data.kind=csv", "data.path=" + file), Context.QUIET);
    }
}
