package dev.espalier.text;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.data.Batch;
import dev.espalier.data.Batches;
import dev.espalier.data.Column;
import dev.espalier.data.ColumnEncoding;
import dev.espalier.data.Context;
import dev.espalier.data.DataException;
import dev.espalier.data.DataSection;
import dev.espalier.data.Dataset;
import dev.espalier.data.Encoding;
import dev.espalier.data.Field;
import dev.espalier.data.LoadedData;
import dev.espalier.data.ModelInput;
import dev.espalier.data.Parts;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Dimension;
import dev.espalier.graph.type.Shape;
import dev.espalier.graph.type.Tensor;
import dev.espalier.graph.type.TensorType;
import dev.espalier.settings.Values;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class TextKindTest {
    private static final int START = 2;
    private static final int END = 3;

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    Path folder;

    private Context model() throws IOException {
        Path model = folder.resolve("model");
        if (!Files.exists(model)) {
            Files.createDirectory(model);
            Files.copy(Tiny.file("tiny-vocab.txt"), model.resolve("vocab.txt"));
        }
        return new Context(Context.QUIET.progress(), Optional.of(model));
    }

    private Values values(String csv, String... more) throws IOException {
        Path file = Files.writeString(folder.resolve("texts.csv"), csv);
        List<String> settings = new ArrayList<>(List.of("data.kind=text", "data.path=" + file));
        settings.addAll(List.of(more));
        return DataSection.read(settings.toArray(String[]::new));
    }

    private Parts open(String csv, String... more) throws IOException {
        return new TextKind().open(values(csv, more), model());
    }

    private static int[] row(Dataset data, int column, int row) {
        return ((Column.Sequences) data.inputs().get(column)).read(row);
    }

    private static int[] tokens(String... words) throws IOException {
        List<String> vocabulary = Files.readAllLines(Tiny.file("tiny-vocab.txt"));
        return List.of(words).stream().mapToInt(vocabulary::indexOf).toArray();
    }

    private static int[] joined(int[]... parts) {
        return Arrays.stream(parts).flatMapToInt(Arrays::stream).toArray();
    }

    @Test
    void aTextStandsBetweenItsSpecialTokens() throws IOException {
        Parts parts = open("text,label\n\"the\nsea\",wet\nthe tower,dry\n");
        Dataset data = parts.train();
        assertEquals(
                List.of("input_ids", "attention_mask", "token_type_ids"),
                data.inputFields().stream().map(Field::name).toList());
        assertArrayEquals(joined(new int[] {START}, tokens("the", "sea"), new int[] {END}), row(data, 0, 0));
        assertArrayEquals(new int[] {1, 1, 1, 1}, row(data, 1, 0));
        assertArrayEquals(new int[] {0, 0, 0, 0}, row(data, 2, 0));
        assertEquals(List.of(new Field.Category("label", List.of("dry", "wet"))), data.targetFields());
    }

    @Test
    void textsCanBeReadAgain() throws IOException {
        Dataset data = open("one,other,label\nThe  SEA,x,wet\nthe tower,y,dry\n")
                .train()
                .rows(new int[] {1, 0});
        List<Optional<String>> texts = data.inputs().stream()
                .map(column -> ((Column.Sequences) column).text(1))
                .toList();
        assertEquals(List.of(Optional.of("The  SEA ¶ x"), Optional.empty(), Optional.empty()), texts);
    }

    @Test
    void ofAPairTheLongerTextIsCutFirst() throws IOException {
        String csv = "one,other,label\nsea sea sea sea sea sea,tower,a\nsea,tower tower tower tower tower,b\n";
        Dataset data = open(csv, "data.length=7").train();
        assertArrayEquals(
                joined(new int[] {START}, tokens("sea", "sea", "sea"), new int[] {END}, tokens("tower"), new int[] {END
                }),
                row(data, 0, 0));
        assertArrayEquals(new int[] {0, 0, 0, 0, 0, 1, 1}, row(data, 2, 0));
        assertArrayEquals(
                joined(new int[] {START}, tokens("sea"), new int[] {END}, tokens("tower", "tower", "tower"), new int[] {
                    END
                }),
                row(data, 0, 1));
        Dataset even = open(csv.replace("tower,a", "tower tower tower tower,a"), "data.length=8")
                .train();
        assertArrayEquals(new int[] {0, 0, 0, 0, 0, 1, 1, 1}, row(even, 2, 0));
        assertEquals(8, row(even, 0, 0).length);
    }

    @Test
    void batchesAreFilledUpAndTheTokenizerTravels() throws IOException {
        Values values = values("text,label\nsea,a\nthe sea,b\nsea,a\nthe sea,b\n", "data.test_fraction=0.5");
        LoadedData data = DataSection.load(values, model());
        try (Batches batches = data.evaluation(data.train(), 2)) {
            Batch batch = batches.next();
            assertArrayEquals(new long[] {2, 4}, input(batch, "input_ids").shape());
            Tensor mask = input(batch, "attention_mask");
            assertEquals(7, LongStream.range(0, 8).map(mask::getLong).sum());
        }
        assertEquals(
                "tokenizer.json",
                ((ColumnEncoding.Tokenized) data.encoding().inputs().getFirst()).tokenizer());
        assertEquals(data.encoding(), Encoding.parse(data.encoding().toJson()));
        data.companion().write(folder);
        try (WordPiece saved = WordPiece.load(folder.resolve("tokenizer.json"))) {
            assertEquals(Tiny.TOKENIZER.size(), saved.size());
        }
    }

    private static Tensor input(Batch batch, String name) {
        return Objects.requireNonNull(batch.inputs().get(name), name);
    }

    @Test
    void aLabelMayBeANumber() throws IOException {
        Dataset data =
                open("text,label\nsea,1.5\nthe,2\n", "data.label_type=number").train();
        assertEquals(List.of(new Field.Numbers("label")), data.targetFields());
    }

    @Test
    void aWrongVocabularyIsRefused() throws IOException {
        IllegalArgumentException refused =
                assertThrows(IllegalArgumentException.class, () -> open("text,label\nαβγ sea,a\nδεζ,b\n"));
        assertTrue(String.valueOf(refused.getMessage()).contains("data.largest_unknown = 0.1"), refused::getMessage);
        List<String> notes =
                open("text,label\nαβγ sea,a\nδεζ,b\n", "data.largest_unknown=1").notes();
        assertTrue(notes.stream().anyMatch(note -> note.startsWith("warning: 66.67 %")), notes::toString);
    }

    private LoadedData load(Context context, String name, String content, String... more) throws IOException {
        Path file = Files.writeString(folder.resolve(name), content);
        List<String> settings = new ArrayList<>(List.of("data.kind=text", "data.path=" + file, "data.labelled=false"));
        settings.addAll(List.of(more));
        return DataSection.load(DataSection.read(settings.toArray(String[]::new)), context);
    }

    /** Texts alone, in whatever file they are. */
    @Test
    void textsNeedNoLabels() throws IOException {
        Context context = model();
        for (LoadedData data : List.of(
                load(context, "lines.txt", "the sea\n\nthe tower\nsea\n"),
                load(
                        context,
                        "lines.jsonl",
                        "{\"text\": \"the sea\"}\n{\"text\": \"the tower\"}\n{\"text\": \"sea\"}\n"),
                load(context, "table.csv", "text\nthe sea\nthe tower\nsea\n"),
                load(
                        context,
                        "table.tsv",
                        "id\ttext\n1\tthe sea\n2\tthe tower\n3\tsea\n",
                        "data.columns=[\"text\"]"))) {
            assertEquals(List.of(), data.targets());
            assertEquals(3, data.train().size() + data.test().size());
            assertEquals(
                    Optional.of("the sea"),
                    ((Column.Sequences) data.test().inputs().getFirst()).text(0));
        }
        LoadedData pairs = load(
                context,
                "pairs.jsonl",
                "{\"a\": \"sea\", \"b\": \"tower\"}\n{\"a\": \"sea\", \"b\": \"tower\"}\n{\"a\": \"sea\", \"b\": \"tower\"}\n");
        assertArrayEquals(new int[] {0, 0, 0, 1, 1}, row(pairs.train(), 2, 0));
        DataException wrong = assertThrows(
                DataException.class, () -> load(context, "bad.jsonl", "{\"text\": \"sea\"}\nsea\n{\"txt\": 1}\n"));
        String told = String.valueOf(wrong.getMessage());
        assertTrue(told.contains("bad.jsonl, line 2") && told.contains("bad.jsonl, line 3"), told);
    }

    private Context model(int places, Dimension length) throws IOException {
        TensorType type = new TensorType(DataType.INT64, new Shape(List.of(Dimension.symbol("batch"), length)));
        return new Context(
                Context.QUIET.progress(),
                model().tokenizer(),
                () -> List.of(
                        new ModelInput("input_ids", type, List.of(8), OptionalLong.of(places)),
                        new ModelInput("token_type_ids", type, List.of(8), OptionalLong.of(2))));
    }

    /** A model that takes so many tokens, neither more nor less, is given so many. */
    @Test
    void aFixedLengthIsFilledUp() throws IOException {
        LoadedData data =
                load(model(1000, Dimension.of(6)), "lines.txt", "sea\nsea\nsea\nsea the\nsea\n", "data.buckets=true");
        try (Batches batches = data.evaluation(data.train(), 1)) {
            Batch batch = batches.next();
            assertArrayEquals(new long[] {1, 6}, input(batch, "input_ids").shape());
            Tensor mask = input(batch, "attention_mask");
            assertEquals(3, LongStream.range(0, 6).map(mask::getLong).sum());
        }
        assertEquals(data.encoding(), Encoding.parse(data.encoding().toJson()));
        LoadedData free = load(model(1000, Dimension.symbol("n")), "lines.txt", "sea\nsea\nsea\n", "data.buckets=true");
        assertEquals(3, ((Column.Sequences) free.train().inputs().getFirst()).length(0));
        LoadedData cut =
                load(model(1000, Dimension.symbol("n")), "lines.txt", "sea sea sea sea\nsea\nsea\n", "data.length=4");
        assertTrue(cut.notes().stream().anyMatch(note -> note.contains("more than 4 tokens")), cut.notes()::toString);
    }

    @Test
    void theTokenizerOfAnotherModelIsRefused() {
        IllegalArgumentException refused = assertThrows(
                IllegalArgumentException.class, () -> load(model(5, Dimension.symbol("n")), "lines.txt", "sea\nsea\n"));
        assertTrue(
                String.valueOf(refused.getMessage()).contains("'sea', but the model has embeddings of 5 tokens only"),
                refused::getMessage);
        assertTrue(String.valueOf(refused.getMessage()).contains("model.tokenizer"), refused::getMessage);
    }

    @Test
    void tokensAreReadBack() {
        assertEquals(
                "[CLS] the sea [SEP]",
                Tiny.TOKENIZER.decode(joined(
                        new int[] {START}, Tiny.TOKENIZER.tokenize("The sea").ids(), new int[] {END})));
    }

    @Test
    void problemsAreTold() throws IOException {
        assertProblem("3 columns of text, and a model reads one or a pair", "a,b,c,label\nx,y,z,1\n");
        assertProblem("values are missing: 1 in column text (the first in line 3)", "text,label\nsea,a\n,b\n");
        assertProblem("2 fields: expected 3", "one,other,label\nsea,tower\n");
        assertProblem("no rows", "text,label\n");
        IllegalArgumentException none = assertThrows(
                IllegalArgumentException.class,
                () -> new TextKind().open(values("text,label\nsea,a\nthe,b\n"), Context.QUIET));
        assertTrue(String.valueOf(none.getMessage()).contains("needs a model with a tokenizer"), none::getMessage);
    }

    private void assertProblem(String expected, String csv) {
        DataException problem = assertThrows(DataException.class, () -> open(csv));
        assertTrue(String.valueOf(problem.getMessage()).contains(expected), problem::getMessage);
    }
}
