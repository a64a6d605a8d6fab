package dev.espalier.engine;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.pytorch.engine.PtNDArray;
import ai.djl.pytorch.jni.JniUtils;
import dev.espalier.graph.GraphException;
import dev.espalier.graph.Node;
import dev.espalier.graph.objective.Objective;
import dev.espalier.graph.op.ArgReduce;
import dev.espalier.graph.op.BatchNorm;
import dev.espalier.graph.op.Binary;
import dev.espalier.graph.op.Concat;
import dev.espalier.graph.op.ConstantOfShape;
import dev.espalier.graph.op.Conv;
import dev.espalier.graph.op.ConvTranspose;
import dev.espalier.graph.op.CumSum;
import dev.espalier.graph.op.Elementwise;
import dev.espalier.graph.op.Expand;
import dev.espalier.graph.op.Flatten;
import dev.espalier.graph.op.Foreign;
import dev.espalier.graph.op.Gather;
import dev.espalier.graph.op.GatherElements;
import dev.espalier.graph.op.Gemm;
import dev.espalier.graph.op.GlobalPool;
import dev.espalier.graph.op.LayerNorm;
import dev.espalier.graph.op.MatMul;
import dev.espalier.graph.op.Operator;
import dev.espalier.graph.op.Pad;
import dev.espalier.graph.op.Pool;
import dev.espalier.graph.op.Range;
import dev.espalier.graph.op.Recurrent;
import dev.espalier.graph.op.Reduce;
import dev.espalier.graph.op.Reshape;
import dev.espalier.graph.op.Resize;
import dev.espalier.graph.op.ScatterElements;
import dev.espalier.graph.op.ShapeOf;
import dev.espalier.graph.op.Size;
import dev.espalier.graph.op.Slice;
import dev.espalier.graph.op.Softmax;
import dev.espalier.graph.op.Split;
import dev.espalier.graph.op.Squeeze;
import dev.espalier.graph.op.Tile;
import dev.espalier.graph.op.TopK;
import dev.espalier.graph.op.Transpose;
import dev.espalier.graph.op.Trilu;
import dev.espalier.graph.op.Unsqueeze;
import dev.espalier.graph.op.Variadic;
import dev.espalier.graph.op.Where;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Shape;
import dev.espalier.graph.type.Tensor;
import java.util.List;

/** The kernel of every operator. */
final class Kernels {
    private Kernels() {}

    /** How many of a node's inputs are read as arrays; those behind them are numbers that the kernel has built in. */
    static int arrays(Operator operator) {
        boolean shapeBehind = operator instanceof Reshape
                || operator instanceof Expand
                || operator instanceof Tile
                || operator instanceof Slice
                || operator instanceof Resize
                || operator instanceof TopK;
        return shapeBehind ? 1 : Integer.MAX_VALUE;
    }

    static Kernel of(Site site) {
        Kernel kernel = judges(site.node()) ? exact(untyped(site)) : untyped(site);
        List<DataType> types = site.node().outputs().stream()
                .map(output -> site.graph().fact(output).data())
                .toList();
        return types.stream().anyMatch(DataType::isInteger) ? narrowed(kernel, types) : kernel;
    }

    private static boolean judges(Node node) {
        return node.name().startsWith(Objective.PREFIX);
    }

    /** Whatever products are computed in: what a model is judged by is computed in single precision. */
    private static Kernel exact(Kernel kernel) {
        return feed -> kernel.run(feed.exact());
    }

    /** libtorch sums up small whole numbers in large ones. */
    private static Kernel narrowed(Kernel kernel, List<DataType> types) {
        return feed -> {
            PtNDArray[] outputs = kernel.run(feed);
            for (int i = 0; i < outputs.length; i++) {
                DataType type = types.get(i);
                outputs[i] = type.isInteger() ? outputs[i].toType(Tensors.djl(type), false) : outputs[i];
            }
            return outputs;
        };
    }

    private static Kernel untyped(Site site) {
        return switch (site.node().operator()) {
            case Elementwise elementwise -> ElementwiseKernels.of(elementwise);
            case Binary(Binary.Function function) -> ArithmeticKernels.binary(function, site);
            case Variadic(Variadic.Function function) -> ArithmeticKernels.variadic(function);
            case Where _ -> Kernel.ofFeed(feed -> JniUtils.where(feed.get(0), feed.get(1), feed.get(2)));
            case Conv conv -> WindowKernels.convolution(conv);
            case ConvTranspose conv -> WindowKernels.transposed(conv, site);
            case Pool pool -> WindowKernels.pool(pool, site);
            case GlobalPool pool -> WindowKernels.globalPool(pool, site);
            case Gemm gemm -> MatrixKernels.gemm(gemm, site);
            case MatMul _ -> Kernel.ofTwo(JniUtils::matmul);
            case Recurrent recurrent -> RecurrentKernels.of(recurrent, site);
            case BatchNorm norm -> NormKernels.batch(norm, site);
            case LayerNorm norm -> NormKernels.layer(norm, site);
            case Softmax softmax -> softmax(softmax, site);
            case Reduce reduce -> ReduceKernels.of(reduce, site);
            case ArgReduce(boolean largest, long axis, boolean keep) ->
                Kernel.of(largest ? x -> JniUtils.argMax(x, axis, keep) : x -> JniUtils.argMin(x, axis, keep));
            case Concat(long axis) -> Kernel.ofFeed(feed -> JniUtils.cat(feed.all(), axis));
            case Split(long axis, List<Long> sizes) -> split(axis, longs(sizes));
            case Slice _ -> IndexKernels.slice(site);
            case Gather(long axis) -> IndexKernels.gather(axis, site);
            case GatherElements(long axis) -> IndexKernels.gatherElements(axis, site);
            case ScatterElements scatter -> IndexKernels.scatter(scatter, site);
            case TopK top -> IndexKernels.topK(top, site);
            case Reshape _, Flatten _, Squeeze _, Unsqueeze _ -> reshape(site);
            case Transpose(List<Long> permutation) -> transpose(longs(permutation));
            case Expand _ -> expand(site);
            case Tile _ -> tile(site);
            case Pad pad -> IndexKernels.pad(pad, site);
            case Resize resize -> ResizeKernels.of(resize, site);
            case Trilu trilu -> IndexKernels.trilu(trilu, site);
            case CumSum sum -> IndexKernels.cumulativeSum(sum, site);
            case ShapeOf _, Size _, ConstantOfShape _, Range _ ->
                throw new GraphException("node " + site.node()
                        + " depends on the contents of inputs: only what follows from the inputs' shapes can be run");
            case Foreign _ -> throw new IllegalStateException("node " + site.node() + " should have been refused");
        };
    }

    private static Kernel softmax(Softmax softmax, Site site) {
        int axis = Shape.axis(softmax.axis(), site.inputShape(0).length);
        ai.djl.ndarray.types.DataType type = Tensors.djl(site.type(0));
        return Kernel.of(
                softmax.logarithm() ? x -> JniUtils.logSoftmax(x, axis, type) : x -> JniUtils.softmax(x, axis, type));
    }

    private static Kernel split(long axis, long[] sizes) {
        return feed -> {
            NDList pieces = JniUtils.split(feed.get(0), sizes, axis);
            return pieces.stream().map((NDArray piece) -> (PtNDArray) piece).toArray(PtNDArray[]::new);
        };
    }

    private static Kernel reshape(Site site) {
        long[] shape = site.outputShape();
        return Kernel.of(x -> JniUtils.reshape(x, shape));
    }

    private static Kernel transpose(long[] permutation) {
        return Kernel.of(x -> JniUtils.permute(x, permutation));
    }

    private static Kernel expand(Site site) {
        ai.djl.ndarray.types.Shape shape = Tensors.shape(site.outputShape());
        return Kernel.of(x -> JniUtils.broadcast(x, shape));
    }

    private static Kernel tile(Site site) {
        site.outputShape();
        Tensor copies = site.constant(1);
        if (copies == null) {
            throw new GraphException("the numbers of copies " + site.node().input(1) + " at node " + site.node()
                    + " depend on the contents of inputs: they must be known beforehand");
        }
        long[] numbers = copies.toLongs();
        return Kernel.of(x -> JniUtils.tile(x, numbers));
    }

    static long[] longs(List<Long> numbers) {
        return numbers.stream().mapToLong(Long::longValue).toArray();
    }
}
