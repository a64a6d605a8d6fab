package dev.espalier.train.model;

import dev.espalier.graph.Graph;
import dev.espalier.graph.GraphBuilder;
import dev.espalier.graph.Node;
import dev.espalier.graph.Value;
import dev.espalier.graph.model.Layers;
import dev.espalier.graph.model.Weights;
import dev.espalier.graph.op.Binary;
import dev.espalier.graph.op.Conv;
import dev.espalier.graph.op.Elementwise.Cast;
import dev.espalier.graph.op.Elementwise.Dropout;
import dev.espalier.graph.op.Elementwise.Unary;
import dev.espalier.graph.op.Flatten;
import dev.espalier.graph.op.Gemm;
import dev.espalier.graph.op.GlobalPool;
import dev.espalier.graph.op.MatMul;
import dev.espalier.graph.op.Pool;
import dev.espalier.graph.op.Reduce;
import dev.espalier.graph.op.Reshape;
import dev.espalier.graph.op.Softmax;
import dev.espalier.graph.op.Squeeze;
import dev.espalier.graph.op.Unsqueeze;
import dev.espalier.graph.pass.DeadNodes;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Shape;
import dev.espalier.train.task.Signature;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * A model with a fresh last layer, which says what a task wants. What the old one read, the new one reads; a softmax behind the old
 * one goes with it. A model that ends with features gets the layer behind them: maps are averaged over their places, and tokens over
 * those that are there.
 *
 * @param graph the model
 * @param note which node went, in words
 */
record NewHead(Graph graph, String note) {
    private static final String NAME = "head";
    private static final String MASK = "attention_mask";

    /**
     * Replaces the last layer.
     *
     * @param model the model, with inputs as the task gives them
     * @param what what messages call it
     * @param wanted what it has to say
     * @param weights what the new layer starts from
     * @throws IllegalArgumentException if it has nothing that a layer could read
     */
    static NewHead of(Graph model, String what, Signature wanted, Weights weights) {
        Signature.Output said = wanted.outputs().getFirst();
        Shape sample = said.sample();
        if (wanted.outputs().size() > 1 || sample.rank() != 1 || !sample.isKnown()) {
            throw new IllegalArgumentException(
                    "model.head = new is one layer that says one row of numbers, but the task wants %s: export the model with these outputs"
                            .formatted(wanted.outputs()));
        }
        return new Ending(model, what).with(output(model, said.name()), said, weights);
    }

    /** What to go back from: the output of that name, or the only one, or the first with one row of numbers, or the first. */
    private static String output(Graph model, String name) {
        return model.outputs().stream()
                .filter(name::equals)
                .findFirst()
                .or(() -> model.outputs().stream()
                        .filter(output -> model.shape(output).rank() == 2)
                        .findFirst())
                .orElseGet(() -> model.outputs().getFirst());
    }

    /** The end of a model. */
    private record Ending(Graph model, String what) {
        NewHead with(String output, Signature.Output outputs, Weights weights) {
            Optional<Node> last = classifier(output);
            String features = last.map(node -> node.input(0)).orElse(output);
            Shape shape = model.shape(features);
            int channels = shape.rank() == 4 ? 1 : shape.rank() - 1;
            boolean usable = shape.rank() >= 2
                    && shape.rank() <= 4
                    && shape.get(channels).isKnown()
                    && model.fact(features).data() == DataType.FLOAT32;
            if (!usable) {
                throw new IllegalArgumentException(
                        "%s: model.head = new finds no layer to replace: its output %s is made by %s, and neither a Gemm, a MatMul nor a 1×1 Conv leads to it, nor is it features [batch, n], [batch, tokens, n] or [batch, n, height, width] but %s; export the model without what comes after its features"
                                .formatted(
                                        what,
                                        output,
                                        model.producer(output),
                                        model.fact(output).type()));
            }
            GraphBuilder whole = GraphBuilder.from(model);
            Graph trunk = DeadNodes.remove(whole.outputs(whole.value(features)));
            GraphBuilder builder = GraphBuilder.from(trunk);
            String name = free(trunk, NAME);
            Value head = new Layers(builder, weights)
                    .linear(
                            name,
                            pooled(builder, builder.value(features), name),
                            outputs.sample().get(0).value(),
                            free(trunk, outputs.name()));
            Graph graph = builder.outputs(head).withMetadata(model.metadata());
            String note = last.map(
                            node -> "node %s (%s), the last layer, is replaced by %s, which reads the same %s of %s"
                                    .formatted(
                                            node.name(), node.operator().label(), name, shape.get(channels), features))
                    .orElseGet(() -> "the new last layer %s reads the %s features of %s"
                            .formatted(name, shape.get(channels), features));
            return new NewHead(graph, what + ": " + note + ", and has learned nothing yet");
        }

        /** A name that nothing has, and that begins no other. */
        private static String free(Graph graph, String wanted) {
            Set<String> names = new HashSet<>(graph.initializers().keySet());
            graph.inputs().forEach(input -> names.add(input.name()));
            graph.nodes().forEach(node -> {
                names.add(node.name());
                names.addAll(node.outputs());
            });
            return IntStream.iterate(1, i -> i + 1)
                    .mapToObj(i -> i == 1 ? wanted : wanted + i)
                    .filter(name ->
                            names.stream().noneMatch(other -> other.equals(name) || other.startsWith(name + ".")))
                    .findFirst()
                    .orElseThrow();
        }

        /** The layer that makes an output, behind which nothing is learned any more. */
        private Optional<Node> classifier(String output) {
            String tensor = output;
            boolean averaged = false;
            while (true) {
                Node node = model.producer(tensor);
                if (node == null) {
                    return Optional.empty();
                }
                if (isLinear(node)) {
                    return Optional.of(node);
                }
                int read = passed(node, averaged);
                if (read < 0) {
                    return Optional.empty();
                }
                averaged |= node.operator() instanceof GlobalPool
                        || node.operator() instanceof Pool
                        || node.operator() instanceof Reduce;
                tensor = node.input(read);
            }
        }

        /** Which of its inputs a node only passes on, as what follows a classifier does; −1 if it does more. */
        private int passed(Node node, boolean averaged) {
            boolean first = switch (node.operator()) {
                case Softmax _, Flatten _, Squeeze _, Reshape _, GlobalPool _, Pool _, Dropout _ -> true;
                case Reduce reduce -> reduce.function() == Reduce.Function.MEAN;
                case Unary unary ->
                    unary.function() == Unary.Function.IDENTITY
                            || unary.function() == Unary.Function.SIGMOID
                            || (averaged && unary.function() == Unary.Function.RELU);
                case Binary binary -> binary.function() == Binary.Function.ADD && isWeight(node.input(1));
                default -> false; // whatever else it is, it makes features
            };
            boolean second = node.operator() instanceof Binary binary
                    && binary.function() == Binary.Function.ADD
                    && isWeight(node.input(0));
            return first ? 0 : second ? 1 : -1;
        }

        private boolean isLinear(Node node) {
            int rank = model.shape(node.input(0)).rank();
            return switch (node.operator()) {
                case Gemm gemm -> !gemm.transposeA() && isWeight(node.input(1));
                case MatMul _ -> rank == 2 && isWeight(node.input(1));
                case Conv conv -> conv.groups() == 1 && rank == 4 && isSingle(model.shape(node.input(1)));
                default -> false;
            };
        }

        private static boolean isSingle(Shape kernel) {
            return kernel.get(2).is(1) && kernel.get(3).is(1);
        }

        /** Whether it is the model's own, as it is or turned. */
        private boolean isWeight(String tensor) {
            Node node = model.producer(tensor);
            return node == null
                    ? model.initializers().containsKey(tensor)
                    : node.inputs().stream().allMatch(this::isWeight);
        }

        /** One row of numbers for each sample. */
        private Value pooled(GraphBuilder builder, Value features, String name) {
            return switch (features.shape().rank()) {
                case 2 -> features;
                case 3 -> meanOfTokens(builder, features, name);
                default ->
                    builder.add(
                            name + ".flat",
                            new Flatten(1),
                            builder.add(name + ".mean", new GlobalPool(Pool.Function.AVERAGE), features));
            };
        }

        /** Of the tokens that are there: those that only fill up the batch count nothing. */
        private Value meanOfTokens(GraphBuilder builder, Value features, String name) {
            Shape tokens = new Shape(features.shape().dimensions().subList(0, 2));
            boolean masked = model.inputs().stream()
                    .anyMatch(input ->
                            input.name().equals(MASK) && input.type().shape().equals(tokens));
            if (!masked) {
                return builder.add(name + ".mean", new Reduce(Reduce.Function.MEAN, List.of(1L), false), features);
            }
            Value there = builder.add(name + ".there", new Cast(DataType.FLOAT32), builder.value(MASK));
            Value column = builder.add(name + ".column", new Unsqueeze(List.of(2L)), there);
            Value kept = builder.add(name + ".kept", new Binary(Binary.Function.MULTIPLY), features, column);
            Value sum = builder.add(name + ".sum", new Reduce(Reduce.Function.SUM, List.of(1L), false), kept);
            Value count = builder.add(name + ".count", new Reduce(Reduce.Function.SUM, List.of(1L), false), column);
            return builder.add(name + ".mean", new Binary(Binary.Function.DIVIDE), sum, count);
        }
    }
}
