package dev.espalier.squad;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

final class WindowsTest {
    private static final WindowPlan ROOMY = new WindowPlan(384, 128, 64);

    private static Windows windows(Squad squad, WindowPlan plan) {
        return new Windows(squad, Tiny.TOKENIZER, plan);
    }

    private static long[] values(WindowBatch batch, String name) {
        Tensor tensor = Objects.requireNonNull(batch.inputs().get(name), name);
        assertEquals(DataType.INT64, tensor.type());
        return tensor.toLongs();
    }

    @Test
    void questionAndTextStandSideBySide() throws IOException {
        Windows windows = windows(Tiny.ask("The sea is old.", "What is old?", new Answer("The sea", 0)), ROOMY);
        WindowBatch batch = windows.batch(windows.all());
        List<String> vocabulary = Files.readAllLines(Tiny.file("tiny-vocab.txt"));
        long[] ids = values(batch, "input_ids");
        List<String> words = Arrays.stream(ids)
                .mapToObj(id -> vocabulary.get((int) id))
                .takeWhile(word -> !word.equals("[PAD]"))
                .toList();
        assertEquals(
                List.of("[CLS]", "what", "is", "old", "?", "[SEP]", "the", "sea", "is", "old", ".", "[SEP]"), words);
        assertArrayEquals(new long[] {1, 32}, batch.shape());
        assertArrayEquals(padded(32, 1, 12), values(batch, "attention_mask"));
        assertArrayEquals(padded(32, 0, 6, 1, 12), values(batch, "token_type_ids"));
        assertEquals(
                List.of("input_ids", "attention_mask", "token_type_ids"),
                List.copyOf(batch.inputs().keySet()));
        assertArrayEquals(new long[] {6}, batch.labels().get(0).toLongs());
        assertArrayEquals(new long[] {7}, batch.labels().get(1).toLongs());
    }

    /** A row of zeros, but for a value up to a place, then another up to the next. */
    private static long[] padded(int length, int... valuesAndEnds) {
        long[] row = new long[length];
        for (int i = 0, from = 0; i < valuesAndEnds.length; i += 2) {
            Arrays.fill(row, from, valuesAndEnds[i + 1], valuesAndEnds[i]);
            from = valuesAndEnds[i + 1];
        }
        return row;
    }

    @Test
    void everyLabelLeadsBackToItsAnswer() {
        for (WindowPlan plan : List.of(ROOMY, new WindowPlan(40, 10, 12), new WindowPlan(30, 12, 8))) {
            Windows windows = windows(Tiny.squad(), plan);
            assertEquals(new AnswerMapping(8, 0, 0, 0), windows.mapping());
            List<Integer> answered = new ArrayList<>();
            for (Window window : windows.all()) {
                assertTrue(window.length() <= plan.length());
                if (window.start() > 0) {
                    answered.add(window.question());
                    AnswerSpan span = windows.span(
                            window,
                            new TokenPair(
                                    window.start() - window.textPosition(), window.end() - window.textPosition(), 0));
                    assertEquals(
                            windows.question(window.question())
                                    .answers()
                                    .getFirst()
                                    .text(),
                            windows.context(window.question()).substring(span.from(), span.to()));
                } else {
                    assertEquals(0, window.start());
                    assertEquals(0, window.end());
                }
            }
            assertEquals(
                    List.of(0, 1, 2, 3, 4, 5, 6, 7),
                    answered.stream().distinct().toList());
        }
    }

    @Test
    void windowsOverlapByTheStrideAndCoverTheText() {
        String text = "sea ".repeat(50);
        for (int stride = 0; stride < 6; stride++) {
            Windows windows = windows(Tiny.ask(text, "old sea", new Answer("sea", 0)), new WindowPlan(12, stride, 3));
            List<Window> all = windows.all();
            assertEquals(0, all.getFirst().from());
            assertEquals(50, all.getLast().to());
            for (int i = 1; i < all.size(); i++) {
                assertEquals(all.get(i - 1).to() - stride, all.get(i).from());
                assertEquals(12, all.get(i - 1).length());
                assertTrue(all.get(i - 1).to() < all.get(i).to());
            }
        }
    }

    @Test
    void aTextThatFitsExactlyMakesOneWindow() {
        WindowPlan plan = new WindowPlan(12, 3, 3);
        assertEquals(
                1, windows(Tiny.ask("sea ".repeat(7), "old sea"), plan).all().size());
        assertEquals(
                2, windows(Tiny.ask("sea ".repeat(8), "old sea"), plan).all().size());
    }

    @Test
    void anAnswerThatIsNotAllInAWindowIsNotInIt() {
        // Room for 7 tokens, so windows at 0 and 4; the answer is tokens 6 to 8.
        Squad squad = Tiny.ask("a a a a a a old sea ship a a", "old sea", new Answer("old sea ship", 12));
        List<Window> all = windows(squad, new WindowPlan(12, 3, 3)).all();
        assertEquals(List.of(new Window(0, 2, 0, 7, 0, 0), new Window(0, 2, 4, 11, 6, 8)), all);
    }

    @Test
    void aLongQuestionIsCut() {
        Squad squad = Tiny.ask("sea", "old ".repeat(20), new Answer("sea", 0));
        Window window = windows(squad, new WindowPlan(12, 3, 4)).all().getFirst();
        assertEquals(new Window(0, 4, 0, 1, 6, 6), window);
    }

    @Test
    void anAnswerThatIsElsewhereIsMovedIfThereIsNoDoubt() {
        String text = "sea ship moon sea";
        Windows moved = windows(Tiny.ask(text, "?", new Answer("moon", 2)), ROOMY);
        assertEquals(new AnswerMapping(1, 1, 0, 0), moved.mapping());
        assertEquals(5, moved.all().getFirst().start());
        for (Answer hopeless :
                List.of(new Answer("sea", 2), new Answer("sea", -1), new Answer("snow", 0), new Answer("", 0))) {
            Windows lost = windows(Tiny.ask(text, "?", hopeless), ROOMY);
            assertEquals(new AnswerMapping(1, 0, 1, 0), lost.mapping());
            assertEquals(List.of(), lost.labelled());
            assertEquals(1, lost.all().size());
            assertEquals(-1, lost.batch(lost.all()).labels().getFirst().getLong(0));
        }
    }

    @Test
    void anAnswerOfWhatTheTokenizerDropsIsLost() {
        Windows windows = windows(Tiny.ask("sea \u200b\u200b moon", "?", new Answer("\u200b\u200b", 4)), ROOMY);
        assertEquals(new AnswerMapping(1, 0, 1, 0), windows.mapping());
    }

    @Test
    void anAnswerWithinATokenIsWidenedToIt() {
        Windows windows = windows(Tiny.ask("old tower", "?", new Answer("owe", 5)), ROOMY);
        assertEquals(new AnswerMapping(1, 0, 0, 1), windows.mapping());
        assertEquals(new Window(0, 1, 0, 2, 4, 4), windows.all().getFirst());
        assertEquals(
                "1 questions; 0 answers not found, 0 found elsewhere than stated, 1 widened to whole tokens",
                windows.mapping().toString());
    }

    @Test
    void batchesAreAsLongAsTheirLongestWindowButNeverLongerThanAnyMayBe() {
        Squad squad = Tiny.ask("sea ".repeat(100), "old", new Answer("sea", 0));
        assertArrayEquals(new long[] {1, 128}, shape(squad, ROOMY));
        assertArrayEquals(new long[] {1, 110}, shape(squad, new WindowPlan(110, 10, 10)));
    }

    private static long[] shape(Squad squad, WindowPlan plan) {
        Windows windows = windows(squad, plan);
        return windows.batch(windows.all()).shape();
    }

    @Test
    void aTextWithoutWordsIsAWindowToo() {
        Windows windows = windows(Tiny.ask(" ", "old"), ROOMY);
        assertEquals(List.of(new Window(0, 1, 0, 0, -1, -1)), windows.all());
        assertEquals(4, windows.all().getFirst().length());
    }

    @Test
    void aPlanMustLeaveRoomForTheText() {
        assertEquals(1, new WindowPlan(20, 8, 8).room(8) - 8);
        IllegalArgumentException error = assertThrows(IllegalArgumentException.class, () -> new WindowPlan(19, 8, 8));
        assertEquals(
                "length = 19 is out of range: it must be above stride = 8 and questionLength = 8 and 3 together",
                error.getMessage());
        assertThrows(IllegalArgumentException.class, () -> new WindowPlan(19, -1, 8));
        assertThrows(IllegalArgumentException.class, () -> new WindowPlan(19, 8, 0));
    }
}
