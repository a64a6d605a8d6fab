package dev.espalier.table;

import dev.espalier.data.DataException;
import dev.espalier.data.table.CellFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;

/**
 * A Parquet file, whose columns are found by their names.
 *
 * @param file the file
 */
record ParquetCells(Path file) implements CellFile {
    @Override
    public String placeWord() {
        return "row";
    }

    @Override
    public List<String> columns() throws IOException {
        try (Connection database = DuckDb.connect();
                Statement statement = database.createStatement()) {
            return columns(statement, source());
        } catch (SQLException problem) {
            throw DataException.in(file, String.valueOf(problem.getMessage()), problem);
        }
    }

    private static List<String> columns(Statement statement, String source) throws SQLException {
        try (ResultSet none = statement.executeQuery("select * from " + source + " limit 0")) {
            return DuckDb.columns(none.getMetaData());
        }
    }

    private String source() throws IOException {
        if (Files.notExists(file)) {
            throw new NoSuchFileException(file.toString());
        }
        return "read_parquet(" + DuckDb.quoted(file.toString()) + ")";
    }

    @Override
    public void forEach(List<String> wanted, Visitor visitor) throws IOException {
        String source = source();
        try (Connection database = DuckDb.connect();
                Statement statement = database.createStatement()) {
            requireColumns(statement, source, wanted);
            String columns = wanted.stream()
                    .map(name -> '"' + name.replace("\"", "\"\"") + '"')
                    .collect(Collectors.joining(", "));
            try (ResultSet rows = statement.executeQuery("select " + columns + " from " + source)) {
                for (long row = 1; rows.next(); row++) {
                    List<String> cells = new ArrayList<>();
                    for (int i = 1; i <= wanted.size(); i++) {
                        cells.add(Objects.requireNonNullElse(DuckDb.text(rows, i), ""));
                    }
                    visitor.row(row, cells);
                }
            }
        } catch (SQLException problem) {
            throw DataException.in(file, String.valueOf(problem.getMessage()), problem);
        }
    }

    private void requireColumns(Statement statement, String source, List<String> wanted)
            throws SQLException, DataException {
        String missing = CellFile.missing(columns(statement, source), wanted);
        if (!missing.isEmpty()) {
            throw DataException.in(file, missing);
        }
    }
}
