package dev.espalier.train.task;

import dev.espalier.graph.Graph;
import dev.espalier.graph.Graph.Input;
import dev.espalier.graph.Node;
import dev.espalier.graph.op.BatchNorm;
import dev.espalier.graph.op.Binary;
import dev.espalier.graph.op.Elementwise;
import dev.espalier.graph.op.Flatten;
import dev.espalier.graph.op.Foreign;
import dev.espalier.graph.op.Gemm;
import dev.espalier.graph.op.GlobalPool;
import dev.espalier.graph.op.LayerNorm;
import dev.espalier.graph.op.MatMul;
import dev.espalier.graph.op.Operator;
import dev.espalier.graph.op.Reduce;
import dev.espalier.graph.op.Reshape;
import dev.espalier.graph.op.Softmax;
import dev.espalier.graph.op.Squeeze;
import dev.espalier.graph.type.Dimension;
import dev.espalier.graph.type.Shape;
import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * What the numbers are that a model of somebody else's says, as far as that matters for likening another model to it: by what two answers
 * are compared, and what is made small to make them equal.
 */
public sealed interface OutputMeaning {
    /**
     * A number for each class along the last axis; there may be several positions before it, each with a class of its own.
     *
     * @param probabilities true for probabilities; false for logits, and for logarithms of probabilities, which are logits too
     */
    record Classes(boolean probabilities) implements OutputMeaning {}

    /** A vector for each sample, of which the direction counts. */
    record Embedding() implements OutputMeaning {}

    /**
     * A vector for each token of each sample: {@code [batch, tokens, size]}.
     *
     * @param maskInput the input {@code [batch, tokens]} that is 0 where there is no token, but padding
     */
    record Tokens(String maskInput) implements OutputMeaning {}

    /** Numbers from 0 to 1, each of which says how sure something is, such as that there is an object. */
    record Scores() implements OutputMeaning {}

    /** Numbers, of which nothing else is known. */
    record Numbers() implements OutputMeaning {}

    /** The meanings as people write them. */
    enum Name {
        /** {@link Classes} with logits. */
        LOGITS,
        /** {@link Classes} with probabilities. */
        PROBABILITIES,
        /** {@link Embedding}. */
        EMBEDDING,
        /** {@link Tokens}. */
        TOKENS,
        /** {@link Scores}. */
        SCORES,
        /** {@link Numbers}. */
        NUMBERS;

        /** {@return the word for it} */
        public String word() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** {@return what people call it} */
    default Name name() {
        return switch (this) {
            case Classes(boolean probabilities) -> probabilities ? Name.PROBABILITIES : Name.LOGITS;
            case Embedding _ -> Name.EMBEDDING;
            case Tokens _ -> Name.TOKENS;
            case Scores _ -> Name.SCORES;
            case Numbers _ -> Name.NUMBERS;
        };
    }

    /**
     * Reads what people write in place of a guess.
     *
     * @param word one of the {@link Name names}
     * @param model the model
     * @param output the output that it is said of
     * @return the meaning
     * @throws IllegalArgumentException if there is no such word, or the output cannot mean that
     */
    static OutputMeaning parse(String word, Graph model, String output) {
        Name name = Arrays.stream(Name.values())
                .filter(known -> known.word().equals(word.toLowerCase(Locale.ROOT)))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("%s cannot mean %s: it must be one of %s"
                        .formatted(
                                output,
                                word,
                                Arrays.stream(Name.values()).map(Name::word).collect(Collectors.joining(", ")))));
        return switch (name) {
            case LOGITS -> new Classes(false);
            case PROBABILITIES -> new Classes(true);
            case EMBEDDING -> new Embedding();
            case SCORES -> new Scores();
            case NUMBERS -> new Numbers();
            case TOKENS ->
                new Tokens(mask(model, output)
                        .orElseThrow(() -> new IllegalArgumentException(
                                "%s %s cannot mean tokens: it must be [batch × tokens × size], and the model have an input [batch × tokens] with mask in its name; its inputs are %s"
                                        .formatted(
                                                output,
                                                model.shape(output),
                                                model.inputs().stream()
                                                        .map(input -> input.name() + " "
                                                                + input.type().shape())
                                                        .toList()))));
        };
    }

    /**
     * The input that says which positions of an output are there and which are padding.
     *
     * @param model a model
     * @param output an output with positions: {@code [batch, tokens, …]}
     * @return an input {@code [batch, tokens]} with {@code mask} in its name; empty if there is none
     */
    static Optional<String> mask(Graph model, String output) {
        Shape shape = model.shape(output);
        return shape.rank() < 3
                ? Optional.empty()
                : model.inputs().stream()
                        .filter(input -> isMask(input.name()))
                        .filter(input -> input.type().shape().rank() == 2)
                        .filter(input -> isAlong(input, shape))
                        .map(Input::name)
                        .findFirst();
    }

    private static boolean isMask(String input) {
        return lower(input).contains("mask");
    }

    private static boolean isAlong(Input mask, Shape shape) {
        Dimension tokens = mask.type().shape().get(1);
        // Exporters have many names for one length.
        return !tokens.isKnown() || !shape.get(1).isKnown() || tokens.equals(shape.get(1));
    }

    /**
     * What an output probably means, by its name, its shape and what computes it.
     *
     * @param model a model
     * @param output one of its outputs
     * @return the likeliest meaning
     */
    static OutputMeaning guess(Graph model, String output) {
        if (!model.fact(output).type().data().isFloat()) {
            return new Numbers();
        }
        return noted(model, output)
                .or(() -> softmax(model, output))
                .or(() -> named(model, output))
                .or(() -> computed(model, output))
                .or(() -> sigmoid(model, output))
                .orElseGet(Numbers::new);
    }

    /** What a model says of itself that was trained here. */
    private static Optional<OutputMeaning> noted(Graph model, String output) {
        return CardNote.of(model).stream()
                .flatMap(card -> card.outputs().stream())
                .filter(noted -> noted.name().equals(output))
                .map(noted -> noted.kind().equals("classes") ? new Classes(false) : (OutputMeaning) new Numbers())
                .findFirst();
    }

    private static Optional<OutputMeaning> softmax(Graph model, String output) {
        Node last = last(model, output);
        if (last == null || !(last.operator() instanceof Softmax(long axis, boolean logarithm))) {
            return Optional.empty();
        }
        Shape shape = model.shape(last.output());
        boolean alongLast = shape.axis(axis) == shape.rank() - 1
                && model.shape(output).rank() > 1
                && shape.get(-1).equals(model.shape(output).get(-1));
        return alongLast ? Optional.of(new Classes(!logarithm)) : Optional.empty();
    }

    private static Optional<OutputMeaning> named(Graph model, String output) {
        int rank = model.shape(output).rank();
        String name = lower(output);
        if (rank >= 2 && name.contains("logit")) {
            return Optional.of(new Classes(false));
        }
        Optional<OutputMeaning> tokens = rank == 3 ? mask(model, output).map(Tokens::new) : Optional.empty();
        boolean isVector = rank == 2 && (name.contains("embed") || name.contains("pool"));
        return tokens.isPresent() || !isVector ? tokens : Optional.of(new Embedding());
    }

    /** A vector for each sample: a mean, a normalised one; or, of an image, what a fully connected layer says. */
    private static Optional<OutputMeaning> computed(Graph model, String output) {
        Node last = last(model, output);
        if (last == null || model.shape(output).rank() != 2) {
            return Optional.empty();
        }
        boolean isText = model.inputs().stream().anyMatch(input -> isMask(input.name()));
        // What BERT says of a text as a whole ends with a hyperbolic tangent.
        if (isNormalised(model, last)
                || (isText && last.operator().equals(new Elementwise.Unary(Elementwise.Unary.Function.TANH)))) {
            return Optional.of(new Embedding());
        }
        boolean isImage = model.inputs().stream()
                .anyMatch(input ->
                        input.type().shape().rank() == 4 && input.type().data().isFloat());
        boolean several = model.shape(output).get(1).isAtLeast(2);
        return isImage && several && model.outputs().size() == 1 && isLinear(model, last)
                ? Optional.of(new Classes(false))
                : Optional.empty();
    }

    private static Optional<OutputMeaning> sigmoid(Graph model, String output) {
        Node last = last(model, output);
        return last != null && last.operator().equals(new Elementwise.Unary(Elementwise.Unary.Function.SIGMOID))
                ? Optional.of(new Scores())
                : Optional.empty();
    }

    private static boolean isNormalised(Graph model, Node last) {
        return switch (last.operator()) {
            case LayerNorm _, BatchNorm _, GlobalPool _ -> true;
            case Foreign foreign -> foreign.name().contains("Normalization");
            case Reduce(Reduce.Function function, var _, var _) -> function == Reduce.Function.MEAN;
            // By a norm, or by the number of tokens.
            case Binary(Binary.Function function)
            when function == Binary.Function.DIVIDE -> isSum(model, last.input(1));
            default -> false;
        };
    }

    /** Whether a tensor is a sum along an axis, or a root of one, kept away from zero. */
    private static boolean isSum(Graph model, String tensor) {
        Node node = model.producer(tensor);
        while (node != null && !(node.operator() instanceof Reduce)) {
            node = node.has(0) ? model.producer(node.input(0)) : null;
        }
        return node != null;
    }

    private static boolean isLinear(Graph model, Node last) {
        Operator operator = last.operator();
        boolean isBias = operator.equals(new Binary(Binary.Function.ADD));
        return operator instanceof Gemm
                || operator instanceof MatMul
                || (isBias && last.inputs().stream().anyMatch(input -> isProduct(model, input)));
    }

    private static boolean isProduct(Graph model, String tensor) {
        Node node = model.producer(tensor);
        return node != null && node.operator() instanceof MatMul;
    }

    /** What computes an output, but for what only renames its numbers or lays them out otherwise. */
    private static @Nullable Node last(Graph model, String output) {
        Node node = model.producer(output);
        while (node != null && isLayout(node.operator())) {
            node = model.producer(node.input(0));
        }
        return node;
    }

    private static boolean isLayout(Operator operator) {
        return operator instanceof Reshape
                || operator instanceof Squeeze
                || operator instanceof Flatten
                || operator instanceof Elementwise.Cast
                || operator instanceof Elementwise.Dropout
                || operator.equals(new Elementwise.Unary(Elementwise.Unary.Function.IDENTITY));
    }

    private static String lower(String name) {
        return name.toLowerCase(Locale.ROOT);
    }
}
