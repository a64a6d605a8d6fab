package dev.espalier.cli;

import dev.espalier.data.table.CsvRows;
import java.nio.file.Path;
import picocli.CommandLine.Option;

/** How a CSV file is written. */
final class CsvOptions {
    @Option(
            names = "--delimiter",
            paramLabel = "C",
            description = "What stands between two cells of a table; a comma if left out.")
    private char delimiter = ',';

    @Option(
            names = "--decimal",
            paramLabel = "C",
            description = "What stands before the decimals of a number; a point if left out.")
    private char decimal = '.';

    @Option(
            names = "--no-header",
            description = "The first line of a table is a row already; its columns are called 0, 1, … as in training.")
    private boolean noHeader;

    CsvRows rows(Path file) {
        if (delimiter == decimal) {
            throw new IllegalArgumentException(
                    "--delimiter and --decimal are both %s: they must differ".formatted(decimal));
        }
        return new CsvRows(file, !noHeader, delimiter, decimal);
    }
}
