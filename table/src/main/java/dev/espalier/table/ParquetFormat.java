package dev.espalier.table;

import dev.espalier.data.table.CellFile;
import dev.espalier.data.table.CellFormat;
import java.nio.file.Path;
import java.util.Locale;

/** Parquet files for a model that is trained already. */
public final class ParquetFormat implements CellFormat {
    /** Called by the service loader. */
    public ParquetFormat() {}

    @Override
    public boolean reads(Path file) {
        return file.toString().toLowerCase(Locale.ROOT).endsWith(".parquet");
    }

    @Override
    public CellFile open(Path file) {
        return new ParquetCells(file);
    }
}
