package dev.espalier.graph.model;

import dev.espalier.graph.Graph;
import dev.espalier.graph.GraphBuilder;
import dev.espalier.graph.Node;
import dev.espalier.graph.Value;
import dev.espalier.graph.op.Binary;
import dev.espalier.graph.op.Elementwise.Cast;
import dev.espalier.graph.op.Elementwise.Gelu;
import dev.espalier.graph.op.Elementwise.Unary;
import dev.espalier.graph.op.Gather;
import dev.espalier.graph.op.MatMul;
import dev.espalier.graph.op.Range;
import dev.espalier.graph.op.Reshape;
import dev.espalier.graph.op.ShapeOf;
import dev.espalier.graph.op.Softmax;
import dev.espalier.graph.op.Split;
import dev.espalier.graph.op.Squeeze;
import dev.espalier.graph.op.Transpose;
import dev.espalier.graph.op.Unsqueeze;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import java.util.List;

/**
 * BERT. Its parameters have the names of Hugging Face's checkpoints, {@code
 * bert.encoder.layer.0.attention.self.query.weight} for one; matrices are {@code [inputs, outputs]}, transposed.
 *
 * <p>Batch and number of tokens are symbolic: one graph serves any batch of up to {@link BertConfig#positions} tokens.
 */
public final class Bert {
    /** The input of tokens, as numbers. */
    public static final String INPUT_IDS = "input_ids";

    /** The input that is 1 for a token, and 0 for what a batch is filled up with. */
    public static final String ATTENTION_MASK = "attention_mask";

    /** The input that is 0 for the first text, and 1 for the second. */
    public static final String TOKEN_TYPE_IDS = "token_type_ids";

    /** The output for where an answer starts. */
    public static final String START_LOGITS = "start_logits";

    /** The output for where an answer ends. */
    public static final String END_LOGITS = "end_logits";

    /** The output for classes. */
    public static final String LOGITS = "logits";

    /** Far below any score, and far from overflow: added to a score it makes a weight of exactly zero. */
    private static final double MASKED = -1e9;

    private static final Binary ADD = new Binary(Binary.Function.ADD);
    private static final Binary SUBTRACT = new Binary(Binary.Function.SUBTRACT);
    private static final Binary MULTIPLY = new Binary(Binary.Function.MULTIPLY);

    private final BertConfig config;
    private final GraphBuilder graph;
    private final Layers layers;

    private Bert(String name, BertConfig config, Weights weights) {
        this.config = config;
        this.graph = new GraphBuilder(name);
        this.layers = new Layers(graph, weights);
    }

    /**
     * BERT with a head that marks where an answer starts and ends.
     *
     * @param config its size
     * @param weights what it starts from
     * @return from {@code input_ids}, {@code attention_mask} and {@code token_type_ids} to {@code start_logits} and
     *     {@code end_logits}, all {@code [batch, tokens]}
     */
    public static Graph questionAnswering(BertConfig config, Weights weights) {
        Bert bert = new Bert("bert-question-answering", config, weights);
        Value answers = bert.layers.dense("qa_outputs", bert.encode(), 2);
        List<Value> ends = bert.graph.addAll(new Node(
                "qa_outputs.split",
                new Split(-1, List.of(1L, 1L)),
                List.of(answers.name()),
                List.of("qa_outputs.start", "qa_outputs.end")));
        Squeeze squeeze = new Squeeze(List.of(-1L));
        return bert.graph.outputs(
                bert.graph.add(START_LOGITS, squeeze, ends.get(0)), bert.graph.add(END_LOGITS, squeeze, ends.get(1)));
    }

    /**
     * BERT with a head that says a number for each of some classes, or for each quantity that is to be estimated: what the first
     * token has become goes through a layer of its own, the pooler, and a linear one.
     *
     * @param config its size
     * @param outputs how many numbers
     * @param weights what it starts from
     * @return from {@code input_ids}, {@code attention_mask} and {@code token_type_ids}, all {@code [batch, tokens]}, to
     *     {@code logits [batch, outputs]}
     */
    public static Graph classification(BertConfig config, long outputs, Weights weights) {
        Bert bert = new Bert("bert-classification", config, weights);
        Value first = bert.graph.add(
                "bert.pooler.first",
                new Gather(1),
                bert.encode(),
                bert.graph.constant("bert.pooler.index", Tensor.scalar(DataType.INT64, 0)));
        Value pooled =
                bert.layers.tanh("bert.pooler.tanh", bert.layers.dense("bert.pooler.dense", first, config.hidden()));
        Value kept = bert.layers.dropout("classifier.dropout", pooled, config.hiddenDropout());
        Unary identity = new Unary(Unary.Function.IDENTITY);
        return bert.graph.outputs(bert.graph.add(LOGITS, identity, bert.layers.dense("classifier", kept, outputs)));
    }

    /**
     * BERT without a head.
     *
     * @param config its size
     * @param weights what it starts from
     * @return from {@code input_ids}, {@code attention_mask} and {@code token_type_ids}, all {@code [batch, tokens]}, to
     *     {@code last_hidden_state [batch, tokens, hidden]}
     */
    public static Graph encoder(BertConfig config, Weights weights) {
        Bert bert = new Bert("bert", config, weights);
        Unary identity = new Unary(Unary.Function.IDENTITY);
        return bert.graph.outputs(bert.graph.add("last_hidden_state", identity, bert.encode()));
    }

    private Value encode() {
        Value tokens = graph.input(INPUT_IDS, DataType.INT64, "batch", "tokens");
        Value mask = graph.input(ATTENTION_MASK, DataType.INT64, "batch", "tokens");
        Value types = graph.input(TOKEN_TYPE_IDS, DataType.INT64, "batch", "tokens");
        Value bias = maskBias(mask);
        Value signal = embed(tokens, types);
        for (int layer = 0; layer < config.layers(); layer++) {
            String name = "bert.encoder.layer." + layer;
            signal = attend(name + ".attention", signal, bias);
            signal = feedForward(name, signal);
        }
        return signal;
    }

    /** {@code (1 − mask) · MASKED}, to be added to scores {@code [batch, heads, tokens, tokens]}. */
    private Value maskBias(Value mask) {
        Value kept = graph.add("bert.mask.number", new Cast(DataType.FLOAT32), mask);
        Value broad = graph.add("bert.mask.broad", new Unsqueeze(List.of(1L, 2L)), kept);
        Value dropped = graph.add("bert.mask.dropped", SUBTRACT, number("bert.mask.one", 1), broad);
        return graph.add("bert.mask.bias", MULTIPLY, dropped, number("bert.mask.penalty", MASKED));
    }

    private Value embed(Value tokens, Value types) {
        String name = "bert.embeddings";
        Value words = layers.embedding(name + ".word_embeddings", tokens, config.vocabulary(), config.hidden());
        Value kinds = layers.embedding(name + ".token_type_embeddings", types, config.types(), config.hidden());
        Value places =
                layers.embedding(name + ".position_embeddings", places(tokens), config.positions(), config.hidden());
        Value sum = layers.add(name + ".sum", layers.add(name + ".words", words, kinds), places);
        Value norm = layers.layerNorm(name + ".LayerNorm", sum, config.epsilon());
        return layers.dropout(name + ".dropout", norm, config.hiddenDropout());
    }

    /** {@code 0, 1, …} for as many tokens as there are. */
    private Value places(Value tokens) {
        String name = "bert.embeddings.places";
        Value length = graph.add(name + ".lengths", new ShapeOf(1, 2), tokens);
        Value end = graph.add(name + ".end", new Squeeze(List.of(0L)), length);
        Value start = graph.constant(name + ".start", Tensor.scalar(DataType.INT64, 0));
        Value step = graph.constant(name + ".step", Tensor.scalar(DataType.INT64, 1));
        return graph.add(name, new Range(), start, end, step);
    }

    private Value attend(String name, Value input, Value bias) {
        String self = name + ".self";
        Value query = heads(self + ".query", input, List.of(0L, 2L, 1L, 3L));
        Value key = heads(self + ".key", input, List.of(0L, 2L, 3L, 1L));
        Value value = heads(self + ".value", input, List.of(0L, 2L, 1L, 3L));
        Value scores = graph.add(self + ".scores", new MatMul(), query, key);
        Value scale = number(self + ".scale", 1 / Math.sqrt(config.headWidth()));
        Value scaled = graph.add(self + ".scaled", MULTIPLY, scores, scale);
        Value masked = graph.add(self + ".masked", ADD, scaled, bias);
        Value shares = graph.add(self + ".shares", new Softmax(-1, false), masked);
        shares = layers.dropout(self + ".dropout", shares, config.attentionDropout());
        Value context = graph.add(self + ".context", new MatMul(), shares, value);
        Value back = graph.add(self + ".back", new Transpose(List.of(0L, 2L, 1L, 3L)), context);
        Value joined = reshape(self + ".joined", back, 0, 0, config.hidden());
        return residual(name + ".output", joined, input);
    }

    /** A linear layer whose outputs are dealt out to the heads. */
    private Value heads(String name, Value input, List<Long> order) {
        Value all = layers.dense(name, input, config.hidden());
        Value dealt = reshape(name + ".heads", all, 0, 0, config.heads(), config.headWidth());
        return graph.add(name + ".ordered", new Transpose(order), dealt);
    }

    private Value feedForward(String name, Value input) {
        Value wide = layers.dense(name + ".intermediate.dense", input, config.intermediate());
        String label = name + ".intermediate.activation";
        Value active = switch (config.activation()) {
            case GELU -> layers.gelu(label, wide);
            case GELU_TANH -> graph.add(label, new Gelu(true), wide);
            case RELU -> layers.relu(label, wide);
        };
        return residual(name + ".output", active, input);
    }

    private Value residual(String name, Value signal, Value input) {
        Value dense = layers.dense(name + ".dense", signal, config.hidden());
        Value dropped = layers.dropout(name + ".dropout", dense, config.hiddenDropout());
        return layers.layerNorm(name + ".LayerNorm", layers.add(name + ".sum", dropped, input), config.epsilon());
    }

    /** A 0 keeps a length, so that batch and tokens need no arithmetic. */
    private Value reshape(String name, Value input, long... shape) {
        return graph.add(name, Reshape.DEFAULT, input, graph.constant(name + ".shape", Tensor.of(shape)));
    }

    private Value number(String name, double value) {
        return graph.constant(name, Tensor.scalar(DataType.FLOAT32, value));
    }
}
