package dev.espalier.squad;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;

final class AnswerReaderTest {
    private static final AnswerSearch SEARCH = new AnswerSearch(20, 30);
    private static final Windows ROOMY = new Windows(Tiny.squad(), Tiny.TOKENIZER, new WindowPlan(384, 128, 64));
    private static final Windows NARROW = new Windows(Tiny.squad(), Tiny.TOKENIZER, new WindowPlan(30, 12, 8));

    /** A model without an opinion. */
    private static Map<String, Tensor> zeros(Map<String, Tensor> inputs) {
        long[] shape = Objects.requireNonNull(inputs.get("input_ids")).shape();
        Tensor zeros = Tensor.of(new float[(int) Tensor.size(shape)], shape);
        return Map.of("start_logits", zeros, "end_logits", zeros);
    }

    @Test
    void whoKnowsAllAnswersHasAllPoints() {
        for (Windows windows : List.of(ROOMY, NARROW)) {
            AnswerReader.Reading reading = new AnswerReader(new Oracle(windows, 50), SEARCH, 3).read(windows);
            assertEquals(new SquadScores(1, 1, 8), SquadScores.of(windows, reading));
            assertEquals(0, reading.loss(), 1e-12);
        }
        assertTrue(NARROW.all().size() > 12);
    }

    @Test
    void whoKnowsNothingSaysTheFirstWord() {
        AnswerReader.Reading reading = new AnswerReader(AnswerReaderTest::zeros, SEARCH, 3).read(ROOMY);
        AnswerSpan first = reading.answers().getFirst().getFirst();
        assertEquals(new AnswerSpan(0, 3, 0), first);
        assertEquals(0, SquadScores.of(ROOMY, reading).exactMatch());
        double expected = ROOMY.all().stream()
                .mapToDouble(window -> Math.log(window.length()))
                .average()
                .orElseThrow();
        assertEquals(expected, reading.loss(), 1e-12);
    }

    @Test
    void whatIsReadDoesNotDependOnTheBatches() {
        AnswerReader.Reading expected = new AnswerReader(new Oracle(NARROW, 2), SEARCH, 1).read(NARROW);
        for (int batchSize : new int[] {2, 3, 7, 1000}) {
            Oracle oracle = new Oracle(NARROW, 2);
            AnswerReader.Reading reading = new AnswerReader(oracle, SEARCH, batchSize).read(NARROW);
            assertEquals(expected.answers(), reading.answers());
            assertEquals(expected.loss(), reading.loss(), 1e-12);
            assertEquals(Math.ceilDiv(NARROW.all().size(), batchSize), oracle.shapes.size());
        }
    }

    @Test
    void theSurestOfAllWindowsIsBelieved() {
        // Two windows on the text, tokens 0 … 6 and 4 … 10; each has an opinion of its own.
        Windows windows = new Windows(
                Tiny.ask("a b c d e f g h i j k", "old sea", new Answer("c", 4)),
                Tiny.TOKENIZER,
                new WindowPlan(12, 3, 3));
        assertEquals(2, windows.all().size());
        AnswerModel model = inputs -> {
            float[] logits = new float[12];
            boolean isFirst = Objects.requireNonNull(inputs.get("input_ids")).getLong(4) == 5;
            logits[isFirst ? 6 : 9] = isFirst ? 3 : 4;
            // Above all, but these are no tokens of the text.
            logits[0] = 9;
            logits[2] = 8;
            logits[11] = 7;
            Tensor tensor = Tensor.of(logits, 1, 12);
            return Map.of("start_logits", tensor, "end_logits", tensor);
        };
        List<AnswerSpan> answers =
                new AnswerReader(model, SEARCH, 1).read(windows).answers().getFirst();
        // Token 9 − 4 + 4 = 9 of the text is j, token 6 − 4 = 2 is c.
        assertEquals(new AnswerSpan(18, 19, 8), answers.getFirst());
        assertEquals(
                6,
                answers.stream()
                        .filter(span -> span.from() == 4 && span.to() == 5)
                        .findFirst()
                        .orElseThrow()
                        .score());
        assertEquals(20, answers.size());
        assertEquals(20, answers.stream().distinct().count());
    }

    @Test
    void lossIsTheMeanOverStartEndAndWindowsThatHaveLabels() {
        Squad squad = new Squad(List.of(new Paragraph(
                "",
                "sea",
                List.of(
                        new Question("1", "old", List.of(new Answer("sea", 0))),
                        new Question("2", "new", List.of(new Answer("moon", 0)))))));
        Windows windows = new Windows(squad, Tiny.TOKENIZER, new WindowPlan(20, 4, 4));
        AnswerModel model = inputs -> {
            long[] shape = Objects.requireNonNull(inputs.get("input_ids")).shape();
            // Five tokens: [CLS] old [SEP] sea [SEP]; the answer is number 3.
            Tensor starts = Tensor.compute(DataType.FLOAT32, shape, i -> i % shape[1] == 3 ? 2 : 0);
            Tensor ends = Tensor.compute(DataType.FLOAT32, shape, i -> i % shape[1] == 1 ? 1 : 0);
            return Map.of("start_logits", starts, "end_logits", ends);
        };
        double start = Math.log(4 + Math.exp(2)) - 2;
        double end = Math.log(4 + Math.exp(1));
        assertEquals(
                (start + end) / 2,
                new AnswerReader(model, SEARCH, 8).read(windows).loss(),
                1e-12);
    }

    @Test
    void aWindowIsRightIfStartAndEndAre() {
        WindowBatch batch = ROOMY.batch(ROOMY.all());
        Map<String, Tensor> outputs = new Oracle(ROOMY, 1).predict(batch.inputs());
        assertEquals(8, AnswerReader.right(outputs, batch.inputs(), batch.labels()));
        Tensor start = batch.labels().get(0);
        Tensor end = batch.labels().get(1);
        assertEquals(1, AnswerReader.right(outputs, batch.inputs(), List.of(wrongButForTheLast(start), end)));
        assertEquals(1, AnswerReader.right(outputs, batch.inputs(), List.of(start, wrongButForTheLast(end))));
    }

    private static Tensor wrongButForTheLast(Tensor labels) {
        return Tensor.of(new long[] {1, 1, 1, 1, 1, 1, 1, labels.getLong(7)});
    }

    @Test
    void whatABatchIsFilledUpWithIsNeverRight() {
        WindowBatch batch = ROOMY.batch(ROOMY.all().subList(0, 1));
        long[] shape = batch.shape();
        Tensor last = Tensor.compute(
                DataType.FLOAT32,
                shape,
                i -> i == shape[1] - 1 ? 100 : i == batch.labels().get(0).getLong(0) ? 1 : 0);
        Tensor end = Tensor.compute(
                DataType.FLOAT32, shape, i -> i == batch.labels().get(1).getLong(0) ? 1 : 0);
        assertTrue(batch.windows().getFirst().length() < shape[1]);
        assertEquals(
                1, AnswerReader.right(Map.of("start_logits", last, "end_logits", end), batch.inputs(), batch.labels()));
    }

    @Test
    void aModelWithOtherOutputsIsRefused() {
        IllegalArgumentException error = assertThrows(
                IllegalArgumentException.class,
                () -> new AnswerReader(inputs -> Map.of("logits", Tensor.of(new float[1])), SEARCH, 8).read(ROOMY));
        assertEquals(
                "the model has the outputs [logits]: it must have start_logits and end_logits", error.getMessage());
        Tensor small = Tensor.of(new float[8], 8);
        error = assertThrows(
                IllegalArgumentException.class,
                () -> new AnswerReader(_ -> Map.of("start_logits", small, "end_logits", small), SEARCH, 8).read(ROOMY));
        assertTrue(
                String.valueOf(error.getMessage()).contains("start_logits is [8]: it must be [8, "), error::getMessage);
        assertThrows(IllegalArgumentException.class, () -> new AnswerReader(AnswerReaderTest::zeros, SEARCH, 0));
    }
}
