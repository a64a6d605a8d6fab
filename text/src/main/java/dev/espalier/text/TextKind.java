package dev.espalier.text;

import dev.espalier.data.Column;
import dev.espalier.data.ColumnEncoding;
import dev.espalier.data.Columns;
import dev.espalier.data.Context;
import dev.espalier.data.DataException;
import dev.espalier.data.DataSection;
import dev.espalier.data.Dataset;
import dev.espalier.data.Encoding;
import dev.espalier.data.Field;
import dev.espalier.data.Outline;
import dev.espalier.data.Parts;
import dev.espalier.data.table.CsvKind;
import dev.espalier.data.table.CsvText;
import dev.espalier.data.table.Selection;
import dev.espalier.data.table.Table;
import dev.espalier.data.table.TableKind;
import dev.espalier.settings.Key;
import dev.espalier.settings.Range;
import dev.espalier.settings.Values;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * {@code text}: a table with one column of texts, or two that are read as a pair, and a column of labels. The model's own
 * tokenizer makes tokens of them.
 */
public final class TextKind extends TableKind {
    private static final String NAME = "text";
    private static final Key<Integer> LENGTH = Key.whole(
                    "data.length", "tokens that are read at most, special ones included; the longer text is cut first")
            .in(Range.atLeast(4))
            .withDefault(128);

    /** Called by the service loader. */
    public TextKind() {}

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public String meaning() {
        return "a table of texts, or of pairs of texts, and labels";
    }

    @Override
    public List<Key<?>> keys() {
        return List.of(
                CsvKind.PATH,
                CsvKind.HEADER,
                CsvKind.DELIMITER,
                LABEL,
                DataSection.LABEL_TYPE,
                COLUMNS,
                IGNORE,
                MISSING,
                LENGTH,
                UnknownTokens.LARGEST,
                DataSection.TEST_FRACTION);
    }

    @Override
    public Outline outline(Values values) {
        return new Outline.Tokens();
    }

    @Override
    public Parts open(Values values, Context context) throws IOException {
        WordPiece tokenizer = WordPiece.ofModel(context.tokenizer(), NAME);
        Path path = Path.of(values.of(CsvKind.PATH));
        boolean folder = Files.isDirectory(path);
        Path file = folder ? CsvKind.find(path, "train.csv").orElse(path.resolve("train.csv")) : path;
        if (!Files.isRegularFile(file)) {
            throw DataException.in(
                    file, "no such file: give a CSV file, or a folder with train.csv and perhaps test.csv");
        }
        Optional<Path> testFile = folder ? CsvKind.find(path, "test.csv") : Optional.empty();
        TextFile train = TextFile.read(file, values);
        Optional<TextFile> test =
                testFile.isPresent() ? Optional.of(TextFile.read(testFile.get(), values)) : Optional.empty();
        if (test.isPresent() && !test.get().table().heads().equals(train.table().heads())) {
            throw DataException.in(
                    testFile.orElseThrow(),
                    "the columns are %s, but those of %s are %s"
                            .formatted(
                                    test.get().table().heads(),
                                    file,
                                    train.table().heads()));
        }
        Optional<Table> judged = test.map(TextFile::table);
        List<String> notes = new ArrayList<>();
        Parts parts = parts(
                values,
                train.table(),
                judged,
                train.labels(),
                table -> tokens(table, train.texts(), tokenizer, values, context, notes));
        notes.addAll(parts.notes());
        return new Parts(parts.train(), parts.test(), notes, tokenizer::save);
    }

    /** What a model of the BERT family reads: tokens, which of them are there, and which text they are of. */
    private static List<Column> tokens(
            Table table, int texts, WordPiece tokenizer, Values values, Context context, List<String> notes) {
        TokenizedTexts made = TokenizedTexts.of(table, texts, tokenizer, values.of(LENGTH), context.progress());
        UnknownTokens unknown = made.unknown();
        unknown.requireAtMost(values.of(UnknownTokens.LARGEST), table.name());
        notes.add("unknown tokens of %s: %s".formatted(table.name(), unknown.percent()));
        unknown.warning(table.name()).ifPresent(notes::add);
        return made.columns();
    }

    @Override
    public Encoding encoding(Values values, Dataset train) {
        List<ColumnEncoding> inputs = new ArrayList<>();
        for (Field field : train.inputFields()) {
            inputs.add(new ColumnEncoding.Tokenized((Field.Tokens) field, TokenizerFile.NAME));
        }
        return new Encoding(inputs, targets(train));
    }

    /** A file, read: first the columns of texts, then the labels. */
    private record TextFile(Table table, int texts, int labels) {
        static TextFile read(Path file, Values values) throws IOException {
            List<String> columns = new ArrayList<>();
            Table.Builder[] table = new Table.Builder[1];
            Selection[] selection = new Selection[1];
            boolean header = values.of(CsvKind.HEADER);
            new CsvText(file, values.of(CsvKind.DELIMITER).charAt(0)).forEach((line, cells) -> {
                if (table[0] == null) {
                    columns.addAll(header ? Table.unique(cells) : Columns.numbered(cells.size()));
                    selection[0] = select(values, file + ", line " + line, columns);
                    table[0] = new Table.Builder(file.toString(), heads(selection[0], columns), "line");
                    if (header) {
                        return true;
                    }
                }
                if (cells.size() == 1 && cells.getFirst().isBlank()) {
                    return true;
                }
                if (cells.size() != columns.size()) {
                    throw DataException.in(
                            file + ", line " + line, "%d fields: expected %d".formatted(cells.size(), columns.size()));
                }
                table[0].begin(line);
                List<Integer> used = selection[0].all();
                for (int i = 0; i < used.size(); i++) {
                    String cell = cells.get(used.get(i));
                    table[0].text(i, cell.isBlank() ? null : cell);
                }
                return true;
            });
            if (table[0] == null || table[0].size() == 0) {
                throw DataException.in(
                        file, "no rows: expected " + (header ? "a header and " : "") + "texts with labels");
            }
            return new TextFile(
                    table[0].build(),
                    selection[0].inputs().size(),
                    selection[0].labels().size());
        }

        private static Selection select(Values values, String place, List<String> columns) throws DataException {
            Selection selection = Selection.of(values, place, columns);
            if (selection.inputs().size() > 2) {
                throw DataException.in(
                        place,
                        "%s are %d columns of text, and a model reads one or a pair: name them in data.columns"
                                .formatted(
                                        selection.inputs().stream()
                                                .map(columns::get)
                                                .toList(),
                                        selection.inputs().size()));
            }
            return selection;
        }

        private static List<Table.Head> heads(Selection selection, List<String> columns) {
            return selection.all().stream()
                    .map(column -> new Table.Head(columns.get(column), false))
                    .toList();
        }
    }
}
