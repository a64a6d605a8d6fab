package dev.espalier.text;

import dev.espalier.data.Column;
import dev.espalier.data.ColumnEncoding;
import dev.espalier.data.Context;
import dev.espalier.data.DataException;
import dev.espalier.data.DataSection;
import dev.espalier.data.Dataset;
import dev.espalier.data.Encoding;
import dev.espalier.data.Field;
import dev.espalier.data.Outline;
import dev.espalier.data.Parts;
import dev.espalier.data.Problems;
import dev.espalier.data.table.CellFile;
import dev.espalier.data.table.CsvKind;
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
 * {@code text}: a table with one column of texts, or two that are read as a pair, and a column of labels, if there are any. The
 * model's own tokenizer makes tokens of them. Where the model's file declares how many tokens it takes, that many are given.
 */
public final class TextKind extends TableKind {
    private static final String NAME = "text";
    private static final Key<Integer> LENGTH = Key.whole(
                    "data.length", "tokens that are read at most, special ones included; the longer text is cut first")
            .in(Range.atLeast(4))
            .withDefault(128);

    private static final Key<String> PATH = Key.location(
                    "data.path",
                    "a .csv, .tsv, .jsonl or .parquet file, a .txt file with a text in a line, or a .json file of SQuAD; or a folder with train.csv and test.csv, relative to where the program is started")
            .in(Range.notBlank())
            .changeable();
    private static final Key<Boolean> BUCKETS = Key.flag(
                    "data.buckets",
                    "whether texts of like length make a batch: much less is filled up, and so it is faster")
            .withDefault(false);

    /** Called by the service loader. */
    public TextKind() {}

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public String meaning() {
        return "a table of texts, or of pairs of texts";
    }

    @Override
    public List<Key<?>> keys() {
        return List.of(
                PATH,
                CsvKind.HEADER,
                CsvKind.DELIMITER,
                DataSection.LABELLED,
                LABEL,
                DataSection.LABEL_TYPE,
                COLUMNS,
                IGNORE,
                MISSING_TEXTS,
                LENGTH,
                BUCKETS,
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
        Path path = Path.of(values.of(PATH));
        boolean folder = Files.isDirectory(path);
        Path file = folder ? CsvKind.find(path, "train.csv").orElse(path.resolve("train.csv")) : path;
        if (!Files.isRegularFile(file)) {
            throw DataException.in(
                    file,
                    "no such file: give a file of texts (%s), or a folder with train.csv and perhaps test.csv"
                            .formatted(".csv, .tsv, .jsonl, .txt, .parquet"));
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
        TokenLengths lengths = TokenLengths.of(
                values.of(LENGTH), values.of(BUCKETS), context.inputs().get());
        TokenizedTexts made = TokenizedTexts.of(table, texts, tokenizer, lengths, context.progress());
        UnknownTokens unknown = made.unknown();
        unknown.requireAtMost(values.of(UnknownTokens.LARGEST), table.name());
        notes.add("unknown tokens of %s: %s".formatted(table.name(), unknown.percent()));
        unknown.warning(table.name()).ifPresent(notes::add);
        made.longNote(table.name(), lengths.most()).ifPresent(notes::add);
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
            String delimiter = values.of(CsvKind.DELIMITER);
            CellFile cells = CellFile.of(
                    file,
                    values.of(CsvKind.HEADER),
                    CsvKind.DELIMITER.defaultValue().equals(Optional.of(delimiter))
                            ? Optional.empty()
                            : Optional.of(delimiter.charAt(0)));
            List<String> columns = cells.columns();
            Selection selection = select(values, file.toString(), columns);
            List<String> wanted = selection.all().stream().map(columns::get).toList();
            Rows rows = new Rows(cells, wanted);
            cells.forEach(wanted, rows);
            rows.problems.requireNone();
            if (rows.table.size() == 0) {
                throw DataException.in(file, "no rows: expected texts in %s".formatted(wanted));
            }
            return new TextFile(
                    rows.table.build(),
                    selection.inputs().size(),
                    selection.labels().size());
        }

        /** Collects rows, and what is wrong with them. */
        private static final class Rows implements CellFile.Visitor {
            private final CellFile cells;
            private final Table.Builder table;
            private final Problems problems = new Problems();

            Rows(CellFile cells, List<String> columns) {
                this.cells = cells;
                this.table = new Table.Builder(
                        cells.file().toString(),
                        columns.stream()
                                .map(name -> new Table.Head(name, Table.Content.TEXTS))
                                .toList(),
                        cells.placeWord());
            }

            @Override
            public void row(long place, List<String> texts) {
                table.begin(place);
                for (int i = 0; i < texts.size(); i++) {
                    table.text(i, texts.get(i).isBlank() ? null : texts.get(i));
                }
            }

            @Override
            public void problem(long place, String problem) {
                problems.add(DataException.in("%s, %s %d".formatted(cells.file(), cells.placeWord(), place), problem));
            }
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
    }
}
