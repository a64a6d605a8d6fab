package dev.espalier.data.table;

import dev.espalier.data.Columns;
import dev.espalier.data.Context;
import dev.espalier.data.DataException;
import dev.espalier.data.DataSection;
import dev.espalier.data.LabelType;
import dev.espalier.data.Parts;
import dev.espalier.settings.Key;
import dev.espalier.settings.Range;
import dev.espalier.settings.Values;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * {@code csv}: a table as text, with a column of labels, more, or none: {@code train.csv} and {@code test.csv} in a folder, or one file (or
 * only {@code train.csv}) to be cut by seed; plain or with {@code .gz}.
 *
 * <p>A column whose cells are all numbers holds numbers, as 32-bit floats; one whose cells are all dates of ISO 8601 holds dates; other
 * columns hold texts, each of which becomes an input of its own. A cell is missing if it is empty, or in a column of numbers or dates
 * {@code NA}, {@code N/A}, {@code NaN}, {@code null}, {@code None} or {@code ?}. A file is read twice: what a column holds is known only when all of it was seen.
 */
public final class CsvKind extends TableKind {
    /** {@code data.path}. */
    public static final Key<String> PATH = Key.location(
                    "data.path",
                    "the table, or a folder with train.csv and test.csv, relative to where the program is started")
            .in(Range.notBlank())
            .changeable();
    /** {@code data.header}. */
    public static final Key<Boolean> HEADER =
            Key.flag("data.header", "whether the first line names the columns").withDefault(true);
    /** {@code data.delimiter}. */
    public static final Key<String> DELIMITER = Key.text("data.delimiter", "what stands between two columns")
            .in(new Range<>(
                    "one character that is no quote and no line break",
                    value -> value.length() == 1 && "\"\n\r".indexOf(value.charAt(0)) < 0))
            .withDefault(",");
    /** {@code data.decimal}. */
    public static final Key<String> DECIMAL = Key.oneOf(
                    "data.decimal", List.of(".", ","), "what stands before the decimals of a number")
            .withDefault(".");

    /** What else people put between columns, and how one says it. */
    private static final List<Map.Entry<String, String>> OTHER_DELIMITERS = List.of(
            Map.entry(";", "semicolons"), Map.entry("\t", "tabs"), Map.entry("|", "bars"), Map.entry(",", "commas"));

    /** Rows between two messages of progress. */
    private static final int PROGRESS = 100_000;

    /** Called by the service loader. */
    public CsvKind() {}

    @Override
    public String name() {
        return "csv";
    }

    @Override
    public String meaning() {
        return "a table as text";
    }

    @Override
    public List<Key<?>> keys() {
        return Stream.concat(Stream.of(PATH, HEADER, DELIMITER, DECIMAL), tableKeys().stream())
                .toList();
    }

    @Override
    public void check(Values values) {
        super.check(values);
        if (values.of(DELIMITER).equals(values.of(DECIMAL))) {
            throw new IllegalArgumentException(
                    "data.delimiter and data.decimal are both %s: set data.delimiter to ;, or data.decimal to ."
                            .formatted(values.of(DECIMAL)));
        }
    }

    @Override
    public Parts open(Values values, Context context) throws IOException {
        Path path = Path.of(values.of(PATH));
        boolean folder = Files.isDirectory(path);
        Path trainFile = folder ? find(path, "train.csv").orElse(path.resolve("train.csv")) : path;
        if (!Files.isRegularFile(trainFile)) {
            throw DataException.in(
                    trainFile, "no such file: give a CSV file, or a folder with train.csv and perhaps test.csv");
        }
        CsvFile train = new CsvFile(trainFile, values, context.progress());
        Selection selection = train.selection();
        List<Table.Head> heads = train.heads(selection);
        Table learned = train.read(selection, heads);
        Optional<Path> testFile = folder ? find(path, "test.csv") : Optional.empty();
        if (testFile.isEmpty()) {
            return parts(values, learned, Optional.empty(), selection.labels().size());
        }
        CsvFile test = new CsvFile(testFile.get(), values, context.progress());
        if (!train.columns().equals(test.columns())) {
            throw DataException.in(
                    test.place(1),
                    "the columns are %s, but those of %s are %s".formatted(test.columns(), trainFile, train.columns()));
        }
        return parts(
                values,
                learned,
                Optional.of(test.read(selection, heads)),
                selection.labels().size());
    }

    /**
     * A file of a folder.
     *
     * @param folder the folder
     * @param name the file's name
     * @return the file, or the same with {@code .gz}; empty if there is neither
     */
    public static Optional<Path> find(Path folder, String name) {
        return Stream.of(name, name + ".gz")
                .map(folder::resolve)
                .filter(Files::isRegularFile)
                .findFirst();
    }

    /** One file, read with the section's settings. */
    private static final class CsvFile {
        private final Path file;
        private final Values values;
        private final Context.Progress progress;
        private final CsvText text;
        private final List<String> columns = new ArrayList<>();
        private long headLine;

        CsvFile(Path file, Values values, Context.Progress progress) throws IOException {
            this.file = file;
            this.values = values;
            this.progress = progress;
            this.text = new CsvText(file, values.of(DELIMITER).charAt(0));
            text.forEach((line, cells) -> {
                headLine = line;
                columns.addAll(values.of(HEADER) ? Table.unique(cells) : Columns.numbered(cells.size()));
                return false;
            });
            if (columns.isEmpty()) {
                throw noRows();
            }
            if (columns.size() < 2 && DataSection.isLabelled(values)) {
                throw DataException.in(
                        place(headLine),
                        "one column: expected a label and at least one number, separated by '%s'%s"
                                .formatted(values.of(DELIMITER), otherDelimiter()));
            }
        }

        /** What seems to stand between the columns instead. */
        private String otherDelimiter() {
            return OTHER_DELIMITERS.stream()
                    .filter(other -> columns.getFirst().contains(other.getKey()))
                    .map(other -> "; it has %s: set data.delimiter = \"%s\""
                            .formatted(other.getValue(), other.getKey().replace("\t", "\\t")))
                    .findFirst()
                    .orElse("");
        }

        List<String> columns() {
            return columns;
        }

        String place(long line) {
            return file + ", line " + line;
        }

        Selection selection() throws DataException {
            return Selection.of(values, place(headLine), columns);
        }

        private DataException noRows() {
            return DataException.in(
                    file, "no rows: expected " + (values.of(HEADER) ? "a header and " : "") + "samples");
        }

        /** All rows but the header, each of the right length. */
        private void forEachRow(CsvText.Visitor visitor) throws IOException {
            boolean[] first = {values.of(HEADER)};
            text.forEach((line, cells) -> {
                if (first[0]) {
                    first[0] = false;
                    return true;
                }
                if (cells.size() == 1 && cells.getFirst().isBlank()) {
                    return true;
                }
                if (cells.size() != columns.size()) {
                    throw DataException.in(
                            place(line), "%d fields: expected %d".formatted(cells.size(), columns.size()));
                }
                return visitor.visit(line, cells);
            });
        }

        /** What was seen of a column. */
        private static final class Seen {
            private long numbers;
            private long texts;
            private long commas;
            private final SeenDates dates = new SeenDates();
            private long firstLine;
            private String firstText = "";

            void add(long line, String cell) {
                if (Cells.isNumber(cell)) {
                    numbers++;
                } else if (!Cells.isMissing(cell)) {
                    if (texts == 0) {
                        firstLine = line;
                        firstText = cell;
                    }
                    texts++;
                    dates.add(cell, line);
                    commas += Cells.isNumber(cell.replace(',', '.')) ? 1 : 0;
                }
            }
        }

        /** What the columns hold, after a first look at all rows. */
        List<Table.Head> heads(Selection selection) throws IOException {
            List<Integer> used = selection.all();
            List<Seen> seen = used.stream().map(_ -> new Seen()).toList();
            forEachRow((line, cells) -> {
                for (int i = 0; i < used.size(); i++) {
                    seen.get(i).add(line, decimal(cells.get(used.get(i))));
                }
                return true;
            });
            List<Table.Head> heads = new ArrayList<>();
            for (int i = 0; i < used.size(); i++) {
                String column = columns.get(used.get(i));
                boolean label = i >= selection.inputs().size();
                boolean names = label
                        ? values.of(DataSection.LABEL_TYPE) == LabelType.CATEGORY
                        : selection.categories().contains(used.get(i));
                if (!names) {
                    requireNoCommas(column, seen.get(i));
                }
                heads.add(new Table.Head(column, label || names ? Table.Content.TEXTS : content(column, seen.get(i))));
            }
            return heads;
        }

        /** Numbers that are read as names would be categories, or classes, without a word. */
        private void requireNoCommas(String column, Seen seen) throws DataException {
            if (seen.texts > 0 && seen.commas == seen.texts) {
                throw DataException.in(
                        place(seen.firstLine),
                        "'%s' in column %s: its values are numbers with a comma; if it stands before the decimals, set data.decimal = \",\"; if between thousands, leave it out; if they are names, list the column in data.categories, or for a label set data.label_type = \"category\""
                                .formatted(seen.firstText, column));
            }
        }

        private Table.Content content(String column, Seen seen) throws DataException {
            if (seen.texts > 0 && seen.numbers >= seen.texts) {
                throw DataException.in(
                        place(seen.firstLine),
                        "'%s' in column %s: expected a finite number, as in %,d other rows; if the column holds names, list it in data.categories"
                                .formatted(seen.firstText, column, seen.numbers));
            }
            return seen.texts == 0
                    ? Table.Content.NUMBERS
                    : seen.dates.content(
                            column, seen.numbers, (line, problem) -> DataException.in(place(line), problem));
        }

        private String decimal(String cell) {
            return values.of(DECIMAL).equals(".") ? cell : cell.replace(',', '.');
        }

        Table read(Selection selection, List<Table.Head> heads) throws IOException {
            List<Integer> used = selection.all();
            int inputs = selection.inputs().size();
            Table.Builder table = new Table.Builder(file.toString(), heads, "line");
            forEachRow((line, cells) -> {
                table.begin(line);
                for (int i = 0; i < used.size(); i++) {
                    String cell = cells.get(used.get(i));
                    Table.Head head = heads.get(i);
                    switch (head.content()) {
                        case NUMBERS -> table.number(i, number(line, head.name(), decimal(cell)));
                        case DATES, UTC_DATES -> table.date(i, Cells.isMissing(cell) ? null : decimal(cell));
                        case TEXTS -> table.text(i, cell.isEmpty() ? null : i < inputs ? cell : label(cell));
                    }
                }
                if (table.size() % PROGRESS == 0) {
                    progress.at("rows", table.size(), 0);
                }
                return true;
            });
            if (table.size() == 0) {
                throw noRows();
            }
            return table.build();
        }

        /** A label may be a number, and then it is one with a point. */
        private String label(String cell) {
            String number = decimal(cell);
            return Cells.isNumber(number) ? number : cell;
        }

        private float number(long line, String column, String cell) throws DataException {
            if (Cells.isMissing(cell)) {
                return Float.NaN;
            }
            float value = Cells.number(cell);
            if (!Float.isFinite(value)) {
                throw DataException.in(
                        place(line), "'%s' in column %s: expected a finite number".formatted(cell, column));
            }
            return value;
        }
    }
}
