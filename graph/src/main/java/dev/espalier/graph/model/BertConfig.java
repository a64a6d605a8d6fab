package dev.espalier.graph.model;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.espalier.core.check.Check;
import java.io.IOException;
import java.util.Arrays;

/**
 * The size of a BERT, as {@code config.json} of a checkpoint tells it.
 *
 * @param vocabulary number of tokens ({@code vocab_size})
 * @param hidden width of the signal ({@code hidden_size})
 * @param layers number of encoder layers ({@code num_hidden_layers})
 * @param heads number of attention heads ({@code num_attention_heads})
 * @param intermediate width within the feed-forward layers ({@code intermediate_size})
 * @param positions the longest sequence of tokens ({@code max_position_embeddings})
 * @param types number of kinds of tokens ({@code type_vocab_size})
 * @param epsilon what keeps the roots of layer normalisation away from zero ({@code layer_norm_eps})
 * @param hiddenDropout dropout of the signal ({@code hidden_dropout_prob})
 * @param attentionDropout dropout of the attention's weights ({@code attention_probs_dropout_prob})
 * @param activation the feed-forward layers' activation ({@code hidden_act})
 */
public record BertConfig(
        int vocabulary,
        int hidden,
        int layers,
        int heads,
        int intermediate,
        int positions,
        int types,
        double epsilon,
        double hiddenDropout,
        double attentionDropout,
        Activation activation) {

    /** BERT-base, uncased; also what a {@code config.json} means where it is silent. */
    public static final BertConfig BASE =
            new BertConfig(30522, 768, 12, 12, 3072, 512, 2, 1e-12, 0.1, 0.1, Activation.GELU);

    // Wide enough for any model, and small enough that no count of weights overflows.
    private static final int MOST_WIDTH = 1 << 20;
    private static final int MOST_LAYERS = 1 << 12;

    /** The activations of feed-forward layers, under the names of {@code hidden_act}. */
    public enum Activation {
        /** {@code x · Φ(x)}, exactly. */
        GELU("gelu"),
        /** The same, approximated by a hyperbolic tangent. */
        GELU_TANH("gelu_new"),
        /** {@code max(0, x)}. */
        RELU("relu");

        private final String label;

        Activation(String label) {
            this.label = label;
        }

        private static Activation named(String label) {
            return Arrays.stream(values())
                    .filter(activation -> activation.label.equals(label))
                    .findFirst()
                    .orElseThrow(() -> new IllegalArgumentException("hidden_act = " + label + " is not supported: give "
                            + Arrays.stream(values())
                                    .map(activation -> activation.label)
                                    .toList()));
        }
    }

    /** Checks the numbers. */
    public BertConfig {
        inRange("vocab_size", vocabulary, Integer.MAX_VALUE);
        inRange("hidden_size", hidden, MOST_WIDTH);
        inRange("num_hidden_layers", layers, MOST_LAYERS);
        inRange("num_attention_heads", heads, hidden);
        inRange("intermediate_size", intermediate, MOST_WIDTH);
        inRange("max_position_embeddings", positions, MOST_WIDTH);
        inRange("type_vocab_size", types, MOST_WIDTH);
        Check.positive("layer_norm_eps", epsilon);
        Check.fraction("hidden_dropout_prob", hiddenDropout);
        Check.fraction("attention_probs_dropout_prob", attentionDropout);
        if (hidden % heads != 0) {
            throw new IllegalArgumentException(
                    "hidden_size = %d must be a multiple of num_attention_heads = %d".formatted(hidden, heads));
        }
    }

    private static void inRange(String name, int value, int most) {
        Check.atLeast(name, value, 1);
        Check.atMost(name, value, most);
    }

    /**
     * Width of one attention head.
     *
     * @return {@code hidden / heads}
     */
    public int headWidth() {
        return hidden / heads;
    }

    /**
     * Number of weights of the encoder with its embeddings.
     *
     * @return how many, without a pooler or a head
     */
    public long encoderParameters() {
        long wide = hidden;
        long norm = 2 * wide;
        long embeddings = ((long) vocabulary + positions + types) * wide + norm;
        long attention = 4 * (wide * wide + wide) + norm;
        long feedForward = wide * intermediate + intermediate + intermediate * wide + wide + norm;
        return embeddings + layers * (attention + feedForward);
    }

    /**
     * Reads a {@code config.json}.
     *
     * @param json its text
     * @return the configuration
     * @throws IOException if it is no JSON, or describes no BERT that is supported
     */
    public static BertConfig parse(String json) throws IOException {
        try {
            JsonNode root = new ObjectMapper().readTree(json);
            if (root == null || !root.isObject()) {
                throw new IOException("config.json is no JSON object");
            }
            requireEither(root, "model_type", "bert");
            requireEither(root, "position_embedding_type", "absolute");
            requireEither(root, "is_decoder", "false");
            return new BertConfig(
                    integer(root, "vocab_size", BASE.vocabulary),
                    integer(root, "hidden_size", BASE.hidden),
                    integer(root, "num_hidden_layers", BASE.layers),
                    integer(root, "num_attention_heads", BASE.heads),
                    integer(root, "intermediate_size", BASE.intermediate),
                    integer(root, "max_position_embeddings", BASE.positions),
                    integer(root, "type_vocab_size", BASE.types),
                    number(root, "layer_norm_eps", BASE.epsilon),
                    number(root, "hidden_dropout_prob", BASE.hiddenDropout),
                    number(root, "attention_probs_dropout_prob", BASE.attentionDropout),
                    Activation.named(root.path("hidden_act").asText(BASE.activation.label)));
        } catch (JacksonException malformed) {
            throw new IOException("config.json is no sound JSON: " + malformed.getOriginalMessage(), malformed);
        } catch (IllegalArgumentException problem) {
            throw new IOException("config.json: " + problem.getMessage(), problem);
        }
    }

    private static void requireEither(JsonNode root, String name, String only) {
        JsonNode value = root.path(name);
        if (!value.isMissingNode() && !value.isNull() && !value.asText().equals(only)) {
            throw new IllegalArgumentException(name + " = " + value + " is not supported: it must be " + only);
        }
    }

    private static int integer(JsonNode root, String name, int otherwise) {
        JsonNode value = root.path(name);
        if (value.isMissingNode()) {
            return otherwise;
        }
        if (!value.isInt()) {
            throw new IllegalArgumentException(name + " = " + value + " must be a whole number");
        }
        return value.intValue();
    }

    private static double number(JsonNode root, String name, double otherwise) {
        JsonNode value = root.path(name);
        if (value.isMissingNode()) {
            return otherwise;
        }
        if (!value.isNumber()) {
            throw new IllegalArgumentException(name + " = " + value + " must be a number");
        }
        return value.doubleValue();
    }

    /**
     * Writes a {@code config.json}.
     *
     * @param architecture the name of the model's class, {@code BertForQuestionAnswering} for one
     * @return its text
     */
    public String json(String architecture) {
        ObjectNode root = JsonNodeFactory.instance.objectNode();
        root.putArray("architectures").add(architecture);
        root.put("attention_probs_dropout_prob", attentionDropout);
        root.put("hidden_act", activation.label);
        root.put("hidden_dropout_prob", hiddenDropout);
        root.put("hidden_size", hidden);
        root.put("intermediate_size", intermediate);
        root.put("layer_norm_eps", epsilon);
        root.put("max_position_embeddings", positions);
        root.put("model_type", "bert");
        root.put("num_attention_heads", heads);
        root.put("num_hidden_layers", layers);
        root.put("type_vocab_size", types);
        root.put("vocab_size", vocabulary);
        return root.toPrettyString() + "\n";
    }
}
