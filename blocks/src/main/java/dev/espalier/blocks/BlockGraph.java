package dev.espalier.blocks;

import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Block;
import ai.djl.nn.LambdaBlock;
import ai.djl.nn.ParallelBlock;
import ai.djl.nn.SequentialBlock;
import ai.djl.nn.SymbolBlock;
import ai.djl.nn.recurrent.RecurrentBlock;
import ai.djl.util.Pair;
import dev.espalier.graph.Graph;
import dev.espalier.graph.Initializer;
import dev.espalier.graph.type.Tensor;
import java.util.Map;
import java.util.Objects;
import java.util.stream.LongStream;

/**
 * A block of DJL as a {@link Graph} with the block's weights, to be pruned and written as ONNX:
 *
 * <pre>{@code
 * Graph graph = BlockGraph.of(model.getBlock());
 * OnnxWriter.write(Pruner.plan(graph, PruneOptions.DEFAULT).apply(), Path.of("pruned.onnx"));
 * }</pre>
 *
 * <p>The block is run on arrays that hold no numbers but write down what is done to them. So it does not matter
 * whether a function comes from a layer, an activation, a lambda or what joins a {@link ParallelBlock}: what counts is
 * which operations of arrays it calls, and with which numbers. One that no operator of a graph stands for is refused,
 * with the place of the block in the tree. The weights are copied.
 */
public final class BlockGraph {
    /** What stands for the length of a batch: two primes that no layer has for a length. */
    private static final long BATCH = 1_000_003;

    private static final long OTHER_BATCH = 1_000_033;

    private final Weights weights;

    private BlockGraph(Weights weights) {
        this.weights = weights;
    }

    /**
     * {@return the graph of a block whose inputs are float32, of the shapes that the block was initialised with}
     *
     * @param block the block, initialised
     * @throws IllegalArgumentException if a part of it cannot be a part of a graph; the message says which, and why
     */
    public static Graph of(Block block) {
        return of(block, DataType.FLOAT32, initialised(block).getInputShapes());
    }

    /**
     * {@return the graph of a block}
     *
     * @param block the block, initialised
     * @param data how the numbers of its inputs are stored: {@code INT64} for those of an embedding
     * @param inputs the shapes of its inputs, as for {@link Block#initialize}. The first axis is the batch's: the graph
     *     takes any number of samples, whatever its length here
     * @throws IllegalArgumentException if a part of it cannot be a part of a graph; the message says which, and why
     */
    public static Graph of(Block block, DataType data, Shape... inputs) {
        for (Shape input : inputs) {
            boolean known = input.dimension() > 1
                    && LongStream.of(input.slice(1).getShape()).allMatch(length -> length > 0);
            if (!known) {
                throw new IllegalArgumentException(
                        "an input has the shape " + input + ": it must have a first axis for the"
                                + " batch, and a length for every other, as in new Shape(1, 3, 32, 32)");
            }
        }
        BlockGraph walk = new BlockGraph(new Weights(initialised(block)));
        Graph graph = walk.trace(BATCH, block, data, inputs);
        if (!alike(graph, walk.trace(OTHER_BATCH, block, data, inputs))) {
            throw new IllegalArgumentException("the block computes with the number of samples in a batch, which a graph"
                    + " leaves open: take that out, or keep the batch as the first axis in what is reshaped");
        }
        return graph;
    }

    private static Block initialised(Block block) {
        if (!block.isInitialized()) {
            throw new IllegalStateException("the block has no weights yet: initialise it first, with"
                    + " trainer.initialize(shape) or block.initialize(manager, DataType.FLOAT32, shape)");
        }
        return block;
    }

    private Graph trace(long batch, Block block, DataType data, Shape... shapes) {
        Trace trace = new Trace(weights, batch);
        NDList inputs = new NDList();
        for (Shape shape : shapes) {
            inputs.add(trace.input(data, shape.slice(1).getShape()));
        }
        NDList outputs = forward("", block, inputs);
        try {
            return trace.outputs(outputs);
        } catch (IllegalArgumentException unknown) {
            throw refused("", block, unknown);
        }
    }

    private static boolean alike(Graph one, Graph other) {
        Map<String, Tensor> constants = one.tensors(Initializer.Kind.CONSTANT);
        Map<String, Tensor> others = other.tensors(Initializer.Kind.CONSTANT);
        return one.nodes().equals(other.nodes())
                && one.outputs().equals(other.outputs())
                && constants.entrySet().stream().allMatch(constant -> {
                    Tensor second = others.get(constant.getKey());
                    return second != null && second.sameAs(constant.getValue());
                });
    }

    private NDList forward(String path, Block block, NDList inputs) {
        try {
            return run(block, inputs);
        } catch (RuntimeException problem) {
            if (block instanceof SequentialBlock || block instanceof ParallelBlock) {
                search(path, block, inputs);
            }
            throw refused(path, block, problem);
        }
    }

    /** Runs the children one by one: if the problem is one of theirs, it is told with that one's place. */
    private void search(String path, Block block, NDList inputs) {
        NDList values = inputs;
        for (Pair<String, Block> child : block.getChildren()) {
            NDList made = forward(path + "/" + child.getKey(), child.getValue(), values);
            values = block instanceof SequentialBlock ? made : inputs;
        }
    }

    private NDList run(Block block, NDList inputs) {
        if (block instanceof RecurrentBlock) {
            throw new IllegalArgumentException("a graph has no operator for recurrent layers");
        }
        if (block instanceof SymbolBlock) {
            throw new IllegalArgumentException(
                    "it is another framework's model, whose layers DJL does not see: write it"
                            + " as ONNX there, and read that with OnnxReader");
        }
        return block.forward(weights, new NDList(inputs), false); // some blocks add to the list
    }

    private static IllegalArgumentException refused(String path, Block block, RuntimeException problem) {
        String kind = block.getClass().getSimpleName();
        return new IllegalArgumentException(
                "%s at %s cannot be a part of a graph: %s"
                        .formatted(
                                block instanceof LambdaBlock lambda ? kind + " " + lambda.getName() : kind,
                                path.isEmpty() ? "the top" : path,
                                Objects.requireNonNullElseGet(problem.getMessage(), problem::toString)),
                problem);
    }
}
