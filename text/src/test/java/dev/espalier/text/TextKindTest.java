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
import dev.espalier.data.Parts;
import dev.espalier.graph.type.Tensor;
import dev.espalier.settings.Values;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
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
