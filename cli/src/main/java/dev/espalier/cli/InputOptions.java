package dev.espalier.cli;

import dev.espalier.data.Context;
import dev.espalier.data.table.CellFile;
import dev.espalier.data.table.CsvCells;
import dev.espalier.data.table.ServedRows;
import dev.espalier.runtime.ThreadTunedModel;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * Which model is asked, and how the rows that it is asked about are written: the ending of a file says what it is, and these say
 * the rest.
 */
final class InputOptions {
    /** What the parameters of the commands can name, besides images. */
    static final String TABLES = "A table: .csv, .tsv or .jsonl, plain or .gz; .parquet; .txt with a text in a line.";

    private static final String STANDARD_INPUT = "-";

    @Parameters(
            index = "0",
            paramLabel = "MODEL",
            description = "An ONNX file that a training wrote, or the folder of a run: then the pruned model in it.")
    @SuppressWarnings("NullAway.Init") // picocli sets it before call()
    private Path model;

    @Option(
            names = "--delimiter",
            paramLabel = "C",
            description = "Separator of cells in a table (default: a comma, a tab in .tsv files).")
    private @Nullable Character delimiter;

    @Option(names = "--decimal", paramLabel = "C", description = "Decimal separator of numbers (default: a point).")
    private char decimal = '.';

    @Option(
            names = "--no-header",
            description =
                    "The first line of a table is a row, not a header; columns are called 0, 1, … as in training.")
    private boolean noHeader;

    @Option(
            names = "--tokenizer",
            paramLabel = "DIR",
            description =
                    "Where the tokenizer.json or vocab.txt is that a model of texts was trained with; beside the model if"
                            + " left out.")
    private @Nullable Path tokenizer;

    @Option(
            names = "--threads",
            paramLabel = "N",
            description =
                    "How many threads ONNX Runtime gets; if left out, as many as a short measurement on the first rows finds to be fastest.")
    private @Nullable Integer threads;

    /**
     * A model in ONNX Runtime.
     *
     * @param file the ONNX file
     * @param listener told how many threads it gets, if that is measured
     */
    ThreadTunedModel runtime(Path file, Consumer<String> listener) {
        if (threads != null && threads < 1) {
            throw new IllegalArgumentException("--threads must be at least 1, but is " + threads);
        }
        OptionalInt chosen = threads == null ? OptionalInt.empty() : OptionalInt.of(threads);
        return new ThreadTunedModel(file, Runtime.getRuntime().availableProcessors(), chosen, listener);
    }

    /** The model that is asked. */
    ServedModel model() throws IOException {
        return ServedModel.read(model);
    }

    /** The rows of a file, by its ending. */
    ServedRows rows(Path file, Context.Progress progress) {
        return new ServedRows(cells(file), decimal, progress);
    }

    /** Refuses what has no name, and so no ending: that it is a table, or which, could only be guessed. */
    static void requireNamed(Path file) {
        if (file.toString().equals(STANDARD_INPUT)) {
            throw new IllegalArgumentException(
                    "standard input is not read by the name -, which does not say what it holds: give a file, or /dev/stdin, which is"
                            + " read as CSV");
        }
    }

    private CellFile cells(Path file) {
        CellFile cells = CellFile.of(file, !noHeader, Optional.ofNullable(delimiter));
        if (cells instanceof CsvCells csv && csv.delimiter() == decimal) {
            throw new IllegalArgumentException(
                    "--delimiter and --decimal are both %s: they must differ".formatted(decimal));
        }
        return cells;
    }

    /** Where the tokenizer of a model is: where it is said to be, or else beside it. */
    Path tokenizer(Path file) {
        return tokenizer != null
                ? tokenizer
                : Objects.requireNonNullElse(file.toAbsolutePath().getParent(), file);
    }
}
