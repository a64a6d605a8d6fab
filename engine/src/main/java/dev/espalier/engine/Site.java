package dev.espalier.engine;

import ai.djl.pytorch.engine.PtNDArray;
import ai.djl.pytorch.engine.PtNDManager;
import dev.espalier.graph.Graph;
import dev.espalier.graph.GraphException;
import dev.espalier.graph.Initializer;
import dev.espalier.graph.Node;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Shape;
import dev.espalier.graph.type.Tensor;
import org.jspecify.annotations.Nullable;

/**
 * A node in the place where it stands, while its kernel is made.
 *
 * @param graph the graph, all of whose shapes are numbers
 * @param node the node
 * @param constants owns arrays that live as long as the kernel
 */
record Site(Graph graph, Node node, PtNDManager constants) {

    long[] inputShape(int index) {
        return lengths(node.input(index));
    }

    long[] outputShape() {
        return lengths(node.output());
    }

    private long[] lengths(String tensor) {
        Shape shape = graph.shape(tensor);
        if (!shape.isKnown()) {
            throw new GraphException("the shape " + shape + " of " + tensor + " at node " + node
                    + " depends on the contents of inputs: only shapes that follow from the inputs' shapes can be run");
        }
        return shape.lengths();
    }

    DataType type(int index) {
        return graph.fact(node.input(index)).data();
    }

    boolean isBuffer(int index) {
        return is(Initializer.Kind.BUFFER, index);
    }

    boolean isParameter(int index) {
        return is(Initializer.Kind.PARAMETER, index);
    }

    private boolean is(Initializer.Kind kind, int index) {
        Initializer initializer = graph.initializers().get(node.input(index));
        return initializer != null && initializer.kind() == kind;
    }

    /** An input's contents, if they never change. */
    @Nullable
    Tensor constant(int index) {
        return constant(graph, node.input(index));
    }

    static @Nullable Tensor constant(Graph graph, String tensor) {
        Initializer initializer = graph.initializers().get(tensor);
        if (initializer != null) {
            return initializer.kind() == Initializer.Kind.CONSTANT ? initializer.tensor() : null;
        }
        return graph.fact(tensor).constant();
    }

    PtNDArray upload(Tensor tensor) {
        return Tensors.upload(constants, tensor);
    }
}
