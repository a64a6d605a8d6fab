package dev.espalier.graph.op;

import dev.espalier.graph.type.Dimension;
import java.util.List;

/** What a node does. */
public sealed interface Operator
        permits Elementwise,
                Conv,
                ConvTranspose,
                Gemm,
                MatMul,
                Recurrent,
                BatchNorm,
                LayerNorm,
                Binary,
                Variadic,
                Where,
                Pool,
                GlobalPool,
                Reduce,
                ArgReduce,
                Softmax,
                Concat,
                Split,
                Slice,
                Gather,
                GatherElements,
                ScatterElements,
                TopK,
                Reshape,
                Flatten,
                Transpose,
                Squeeze,
                Unsqueeze,
                Expand,
                Tile,
                ShapeOf,
                Size,
                ConstantOfShape,
                Range,
                Pad,
                Resize,
                Trilu,
                CumSum,
                Foreign {

    /**
     * What ONNX calls it.
     *
     * @return the name of the operator
     */
    default String label() {
        return getClass().getSimpleName();
    }

    /**
     * The least number of inputs.
     *
     * @return how many must be there
     */
    default int leastInputs() {
        return 1;
    }

    /**
     * The largest number of inputs.
     *
     * @return how many may be there
     */
    default int mostInputs() {
        return leastInputs();
    }

    /**
     * How many outputs, counted from the end, a file need not name.
     *
     * @return none, unless an operator says otherwise
     */
    default int optionalOutputs() {
        return 0;
    }

    /**
     * Whether only the shape of its input is read, and none of the elements.
     *
     * @return true for Shape and Size
     */
    default boolean readsOnlyShape() {
        return false;
    }

    /**
     * What is known of the outputs.
     *
     * @param inputs what is known of the inputs
     * @return one fact for each output
     * @throws IllegalArgumentException if the inputs do not fit the operator or each other
     */
    List<Fact> infer(Operands inputs);

    /**
     * Number of floating point operations; a multiplication and the addition of its product are two.
     *
     * @param inputs what is known of the inputs
     * @param outputs what is known of the outputs
     * @return the number, as a formula of the symbolic dimensions
     */
    default Dimension flops(Operands inputs, List<Fact> outputs) {
        return Dimension.ZERO;
    }
}
