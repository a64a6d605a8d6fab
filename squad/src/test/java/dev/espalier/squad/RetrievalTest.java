package dev.espalier.squad;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.data.Context;
import dev.espalier.graph.Graph;
import dev.espalier.graph.GraphBuilder;
import dev.espalier.graph.op.Elementwise.Cast;
import dev.espalier.graph.op.Unsqueeze;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Questions that look for their texts. */
final class RetrievalTest {
    private static Retrieval retrieval(int texts, int perText) {
        List<Paragraph> paragraphs = new ArrayList<>();
        for (int text = 0; text < texts; text++) {
            String own = "t" + text;
            paragraphs.add(new Paragraph(
                    "",
                    own,
                    IntStream.range(0, perText)
                            .mapToObj(i -> new Question(own + "q" + i, own + "q" + i, List.of()))
                            .toList()));
        }
        return Retrieval.of(new Squad(paragraphs));
    }

    /** Held to the definition: all texts sorted by similarity, for each question. */
    @Test
    void ranksAreThoseOfASortedList() {
        SplittableRandom random = new SplittableRandom(1);
        Retrieval asked = retrieval(30, 3);
        float[][] texts = vectors(random, 30);
        float[][] questions = vectors(random, 90);
        double reciprocals = 0;
        double first = 0;
        double amongTen = 0;
        for (int question = 0; question < 90; question++) {
            float[] own = questions[question];
            List<Integer> sorted = IntStream.range(0, 30)
                    .boxed()
                    .sorted(Comparator.comparingDouble((Integer text) -> -dot(texts[text], own)))
                    .toList();
            int rank = sorted.indexOf(question / 3) + 1;
            reciprocals += rank <= 10 ? 1.0 / rank : 0;
            first += rank == 1 ? 1 : 0;
            amongTen += rank <= 10 ? 1 : 0;
        }
        Retrieval.Score score = asked.score(texts, questions);
        assertEquals(reciprocals / 90, score.meanReciprocalRank(), 1e-12);
        assertEquals(first / 90, score.first());
        assertEquals(amongTen / 90, score.amongTen());
        assertTrue(amongTen > 0 && amongTen < 90);
    }

    private static float[][] vectors(SplittableRandom random, int count) {
        float[][] vectors = new float[count][7];
        for (float[] vector : vectors) {
            for (int i = 0; i < vector.length; i++) {
                vector[i] = (float) random.nextGaussian();
            }
        }
        return vectors;
    }

    private static double dot(float[] left, float[] right) {
        return IntStream.range(0, left.length)
                .mapToDouble(i -> (double) left[i] * right[i])
                .sum();
    }

    @Test
    void equalsStandInTheirOrderAndNoNumbersFindNothing() {
        Retrieval asked = retrieval(2, 1);
        float[] same = {1, 0};
        assertEquals(
                new Retrieval.Score(0.75, 0.5, 1), asked.score(new float[][] {same, same}, new float[][] {same, same}));
        float[] broken = {Float.NaN, 0};
        assertEquals(
                new Retrieval.Score(0, 0, 0), asked.score(new float[][] {same, same}, new float[][] {broken, broken}));
    }

    @Test
    void aSampleAsksTheSameQuestionsOfAllTexts() {
        Retrieval all = retrieval(20, 5);
        Retrieval some = all.sample(17);
        assertEquals(some, all.sample(17));
        assertEquals(17, some.questions().size());
        assertEquals(20, some.texts().size());
        assertEquals(100, some.asked());
        for (int i = 0; i < 17; i++) {
            assertTrue(some.questions().get(i).startsWith("t" + some.places().get(i) + "q"));
        }
        assertEquals(all, all.sample(100));
    }

    /** A model that says a token's number and one; padding says something else. */
    private static Map<String, Tensor> echo(Map<String, Tensor> inputs) {
        Tensor ids = Objects.requireNonNull(inputs.get("input_ids"));
        Tensor mask = Objects.requireNonNull(inputs.get("attention_mask"));
        return Map.of(
                "y",
                Tensor.compute(
                        DataType.FLOAT32,
                        new long[] {ids.shape()[0], ids.shape()[1], 2},
                        i -> mask.getLong(i / 2) == 0 ? 1e6 : i % 2 == 0 ? ids.getLong(i / 2) : 1));
    }

    @Test
    void vectorsAreMeansOverTokensOfLengthOne() {
        List<String> texts = List.of("the", "the cat sat on the mat with a hat", "", "the cat");
        TextVectors.Model model = new TextVectors.Model("y", RetrievalTest::echo);
        for (int batchSize : new int[] {1, 3, 10}) {
            TextVectors maker = new TextVectors(Tiny.TOKENIZER, 8, batchSize);
            List<TextVectors.Vectors> made = maker.of(texts, List.of(model, model), Context.QUIET.progress());
            for (int i = 0; i < texts.size(); i++) {
                int[] ids = Tiny.TOKENIZER.tokenize(texts.get(i)).ids();
                int kept = Math.min(ids.length, 6);
                double mean = (Tiny.TOKENIZER.classifier()
                                + Tiny.TOKENIZER.separator()
                                + IntStream.range(0, kept)
                                        .map(token -> ids[token])
                                        .sum())
                        / (kept + 2.0);
                double length = Math.hypot(mean, 1);
                assertArrayEquals(
                        new float[] {(float) (mean / length), (float) (1 / length)},
                        made.getFirst().vectors()[i],
                        1e-6f);
                assertArrayEquals(made.getFirst().vectors()[i], made.getLast().vectors()[i]);
            }
        }
    }

    private static Graph model(String input, boolean vectors) {
        GraphBuilder graph = new GraphBuilder("texts");
        var numbers =
                graph.add("numbers", new Cast(DataType.FLOAT32), graph.input(input, DataType.INT64, "batch", "tokens"));
        return graph.outputs(vectors ? graph.add("y", new Unsqueeze(List.of(2L)), numbers) : numbers);
    }

    @Test
    void modelsOfTextsAreToldFromOthers() {
        assertEquals(
                "y",
                TextVectors.Model.of(model("input_ids", true), "m", inputs -> inputs)
                        .output());
        for (Graph wrong : List.of(model("pixels", true), model("input_ids", false))) {
            String message = String.valueOf(assertThrows(
                            IllegalArgumentException.class, () -> TextVectors.Model.of(wrong, "m", inputs -> inputs))
                    .getMessage());
            assertTrue(message.startsWith("m makes no vectors of texts"), message);
        }
    }
}
