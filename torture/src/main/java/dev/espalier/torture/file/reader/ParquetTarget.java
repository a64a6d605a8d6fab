package dev.espalier.torture.file.reader;

import dev.espalier.data.table.CellFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Optional;

/** Rows for a trained model in Parquet, which DuckDB reads. */
public final class ParquetTarget extends SingleFile {
    /** Called by the service loader. */
    public ParquetTarget() {
        super("parquet", Structure.BYTES, "rows.parquet");
    }

    @Override
    public int share() {
        return 2;
    }

    @Override
    public List<byte[]> seeds(Path folder) throws IOException {
        Path file = folder.resolve("seed.parquet");
        try (Connection database = DriverManager.getConnection("jdbc:duckdb:");
                Statement statement = database.createStatement()) {
            statement.execute(
                    "copy (select range as a, range / 3.0 as b, 'name ' || (range %% 5) as c, range > 3 as d from range(20)) to '%s' (format parquet)"
                            .formatted(file));
        } catch (SQLException impossible) {
            throw new IOException(impossible);
        }
        return List.of(Files.readAllBytes(file));
    }

    @Override
    void read(Path file) throws IOException {
        LinesTarget.readAll(CellFile.of(file, true, Optional.empty()));
    }
}
