package dev.espalier.train.task;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.graph.Graph;
import dev.espalier.graph.GraphBuilder;
import dev.espalier.graph.Value;
import dev.espalier.graph.op.Binary;
import dev.espalier.graph.op.Elementwise.Unary;
import dev.espalier.graph.op.Flatten;
import dev.espalier.graph.op.MatMul;
import dev.espalier.graph.op.Operator;
import dev.espalier.graph.op.Reduce;
import dev.espalier.graph.op.Softmax;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import dev.espalier.train.task.OutputMeaning.Classes;
import dev.espalier.train.task.OutputMeaning.Embedding;
import dev.espalier.train.task.OutputMeaning.Numbers;
import dev.espalier.train.task.OutputMeaning.Tokens;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What outputs are taken for. */
final class OutputMeaningTest {
    private static final Operator IDENTITY = new Unary(Unary.Function.IDENTITY);

    /** A model of rows of numbers that ends with an operator. */
    private static Graph ending(String output, Operator operator) {
        GraphBuilder graph = new GraphBuilder("rows");
        Value x = graph.input("x", DataType.FLOAT32, "batch", 3);
        Value linear = graph.add("linear", new MatMul(), x, graph.parameter("w", Tensor.of(new float[12], 3, 4)));
        return graph.outputs(graph.add(output, operator, linear));
    }

    private static OutputMeaning guess(Graph graph) {
        return OutputMeaning.guess(graph, graph.outputs().getFirst());
    }

    @Test
    void aSoftmaxAtTheEndMakesProbabilities() {
        assertEquals(new Classes(true), guess(ending("y", new Softmax(-1, false))));
        assertEquals(new Classes(false), guess(ending("y", new Softmax(1, true))));
        assertEquals(new Numbers(), guess(ending("y", new Softmax(0, false))));
    }

    @Test
    void aSigmoidAtTheEndMakesScores() {
        assertEquals(new OutputMeaning.Scores(), guess(ending("y", new Unary(Unary.Function.SIGMOID))));
        assertEquals(
                new Classes(false), guess(ending("logits", new Unary(Unary.Function.SIGMOID))), "the name says so");
    }

    @Test
    void namesTell() {
        assertEquals(new Classes(false), guess(ending("logits", IDENTITY)));
        assertEquals(new Embedding(), guess(ending("sentence_embedding", IDENTITY)));
        assertEquals(new Embedding(), guess(ending("pooler_output", IDENTITY)));
        assertEquals(new Numbers(), guess(ending("y", IDENTITY)));
    }

    /** {@code x / √Σx²}, and no such thing. */
    @Test
    void aVectorOfLengthOneIsAnEmbedding() {
        GraphBuilder graph = new GraphBuilder("normalised");
        Value x = graph.input("x", DataType.FLOAT32, "batch", 3);
        Value norm = graph.add("norm", new Reduce(Reduce.Function.L2, List.of(1L), true), x);
        assertEquals(
                new Embedding(), guess(graph.outputs(graph.add("y", new Binary(Binary.Function.DIVIDE), x, norm))));
        GraphBuilder other = new GraphBuilder("divided");
        Value y = other.input("x", DataType.FLOAT32, "batch", 3);
        Value scale = other.parameter("scale", Tensor.of(new float[] {2}, 1));
        assertEquals(new Numbers(), guess(other.outputs(other.add("y", new Binary(Binary.Function.DIVIDE), y, scale))));
    }

    @Test
    void aFullyConnectedLayerOnAnImageSaysClasses() {
        GraphBuilder graph = new GraphBuilder("image");
        Value image = graph.input("image", DataType.FLOAT32, "batch", 1, 2, 2);
        Value flat = graph.add("flat", new Flatten(1), image);
        assertEquals(
                new Classes(false),
                guess(graph.outputs(
                        graph.add("y", new MatMul(), flat, graph.parameter("w", Tensor.of(new float[12], 4, 3))))));
    }

    /** A vector or logits for each token. */
    private static Graph tokens(String output, boolean mask) {
        GraphBuilder graph = new GraphBuilder("tokens");
        Value x = graph.input("x", DataType.FLOAT32, "batch", "tokens", 3);
        if (mask) {
            graph.input("attention_mask", DataType.INT64, "batch", "tokens");
        }
        return graph.outputs(graph.add(output, IDENTITY, x));
    }

    @Test
    void whatIsMaskedIsTokens() {
        assertEquals(new Tokens("attention_mask"), guess(tokens("last_hidden_state", true)));
        assertEquals(new Numbers(), guess(tokens("last_hidden_state", false)));
        assertEquals(new Classes(false), guess(tokens("logits", true)));
    }

    @Test
    void whatBertSaysOfAWholeTextIsAnEmbedding() {
        GraphBuilder graph = new GraphBuilder("text");
        graph.input("attention_mask", DataType.INT64, "batch", "tokens");
        Value first = graph.input("first", DataType.FLOAT32, "batch", 3);
        assertEquals(new Embedding(), guess(graph.outputs(graph.add("882", new Unary(Unary.Function.TANH), first))));
        assertEquals(new Numbers(), guess(ending("882", new Unary(Unary.Function.TANH))), "no text");
    }

    @Test
    void peopleKnowBetter() {
        Graph graph = tokens("y", true);
        for (OutputMeaning meaning : List.of(
                new Classes(true), new Classes(false), new Embedding(), new Tokens("attention_mask"), new Numbers())) {
            assertEquals(meaning, OutputMeaning.parse(meaning.name().word(), graph, "y"));
        }
        String unknown = String.valueOf(
                assertThrows(IllegalArgumentException.class, () -> OutputMeaning.parse("words", graph, "y"))
                        .getMessage());
        assertTrue(unknown.contains("logits, probabilities, embedding, tokens, scores, numbers"), unknown);
        assertThrows(IllegalArgumentException.class, () -> OutputMeaning.parse("tokens", tokens("y", false), "y"));
    }
}
