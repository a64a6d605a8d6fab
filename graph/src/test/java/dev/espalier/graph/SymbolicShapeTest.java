package dev.espalier.graph;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import dev.espalier.graph.op.Binary;
import dev.espalier.graph.op.Concat;
import dev.espalier.graph.op.ConstantOfShape;
import dev.espalier.graph.op.Elementwise;
import dev.espalier.graph.op.Expand;
import dev.espalier.graph.op.Gather;
import dev.espalier.graph.op.Operator;
import dev.espalier.graph.op.Range;
import dev.espalier.graph.op.Reduce;
import dev.espalier.graph.op.Reshape;
import dev.espalier.graph.op.ShapeOf;
import dev.espalier.graph.op.Slice;
import dev.espalier.graph.op.Transpose;
import dev.espalier.graph.op.Unsqueeze;
import dev.espalier.graph.op.Where;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Dimension;
import dev.espalier.graph.type.Shape;
import dev.espalier.graph.type.Tensor;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The chains of shape arithmetic that PyTorch's exporters leave in a graph. */
class SymbolicShapeTest {
    private static final Dimension BATCH = Dimension.symbol("batch");
    private static final Dimension TOKENS = Dimension.symbol("tokens");

    private GraphBuilder graph = new GraphBuilder("shapes");
    private int count;

    @BeforeEach
    void startAnew() {
        graph = new GraphBuilder("shapes");
        count = 0;
    }

    private Value add(Operator operator, Value... inputs) {
        return graph.add("node" + count++, operator, inputs);
    }

    private Value list(long... numbers) {
        return graph.constant("constant" + count++, Tensor.of(numbers));
    }

    private Value number(long value) {
        return graph.constant(
                "constant" + count++, Tensor.of(new long[] {value}).reshape());
    }

    /** {@code unsqueeze(gather(shape(x), axis))}: one length, ready to be joined to others. */
    private Value length(Value x, long axis) {
        Value shape = add(ShapeOf.ALL, x);
        Value scalar = add(new Gather(0), shape, number(axis));
        return add(new Unsqueeze(List.of(0L)), scalar);
    }

    @Test
    void headsOfAnAttentionAreSplitOffAndJoinedAgain() {
        Value x = graph.input("x", DataType.FLOAT32, "batch", "tokens", 768);
        Value split = add(new Concat(0), length(x, 0), length(x, 1), list(12), list(64));
        Value heads = add(Reshape.DEFAULT, x, split);
        assertEquals(Shape.of("batch", "tokens", 12, 64), heads.shape());
        Value turned = add(new Transpose(List.of(0L, 2L, 1L, 3L)), heads);
        Value joined = add(new Concat(0), length(turned, 0), length(turned, 2), list(-1));
        assertEquals(
                Shape.of("batch", "tokens", 768),
                add(Reshape.DEFAULT, turned, joined).shape());
    }

    @Test
    void aMinusOneIsWhatIsLeft() {
        Value x = graph.input("x", DataType.FLOAT32, "batch", 512, 7, 7);
        Value flat = add(Reshape.DEFAULT, x, add(new Concat(0), length(x, 0), list(-1)));
        assertEquals(Shape.of("batch", 512 * 49), flat.shape());
        assertEquals(
                Shape.of("batch", 512 * 49),
                add(Reshape.DEFAULT, x, list(0, -1)).shape());
        assertEquals(
                Shape.of(BATCH.times(512), 49),
                add(Reshape.DEFAULT, x, list(-1, 49)).shape());
    }

    @Test
    void pixelsBecomePatches() {
        Value x = graph.input("x", DataType.FLOAT32, "batch", 768, 14, 14);
        Value shape = add(ShapeOf.ALL, x);
        Value front = add(new Slice(), shape, list(0), list(2), list(0));
        Value back = add(new Slice(), shape, list(2), list(Long.MAX_VALUE), list(0));
        Value area = add(new Reduce(Reduce.Function.PRODUCT, List.of(0L), true), back);
        assertEquals(
                Shape.of("batch", 768, 196),
                add(Reshape.DEFAULT, x, add(new Concat(0), front, area)).shape());
    }

    @Test
    void aClassTokenIsExpandedThroughWhereAndEqual() {
        Value x = graph.input("x", DataType.FLOAT32, "batch", 196, 768);
        Value token = graph.parameter("token", Tensor.of(new float[768], 1, 1, 768));
        Value wish = add(new Concat(0), length(x, 0), list(-1), list(-1));
        Value ones = add(new ConstantOfShape(Tensor.of(new long[] {1})), list(3));
        Value minusOnes = add(new Binary(Binary.Function.MULTIPLY), ones, number(-1));
        Value isOpen = add(new Binary(Binary.Function.EQUAL), wish, minusOnes);
        Value target = add(new Where(), isOpen, ones, wish);
        Value expanded = add(new Expand(), token, target);
        assertEquals(Shape.of("batch", 1, 768), expanded.shape());
        assertEquals(
                Shape.of("batch", 197, 768), add(new Concat(1), expanded, x).shape());
    }

    @Test
    void positionsAreCutToTheNumberOfTokens() {
        Value ids = graph.input("ids", DataType.INT64, "batch", "tokens");
        Value positions = graph.constant("positions", Tensor.computeLongs(DataType.INT64, new long[] {1, 512}, i -> i));
        Value cut = add(new Slice(), positions, list(0), length(ids, 1), list(1), list(1));
        assertEquals(Shape.of(1, TOKENS.min(Dimension.of(512))), cut.shape());
        Value first = add(new Slice(), ids, list(0), list(1), list(1));
        assertEquals(Shape.of("batch", TOKENS.min(Dimension.ONE)), first.shape());
        Value butLast = add(new Slice(), ids, list(0), list(-1), list(1));
        assertEquals(Shape.of("batch", TOKENS.minus(TOKENS.min(Dimension.ONE))), butLast.shape());
        Value last = add(new Slice(), ids, list(-1), list(Long.MAX_VALUE), list(1));
        assertEquals(Shape.of("batch", TOKENS.min(Dimension.ONE)), last.shape());
    }

    @Test
    void rangesAreAsLongAsShapesSay() {
        Value ids = graph.input("ids", DataType.INT64, "batch", "tokens");
        Value tokens = add(new Gather(0), add(ShapeOf.ALL, ids), number(1));
        assertEquals(
                Shape.of("tokens"),
                add(new Range(), number(0), tokens, number(1)).shape());
        assertEquals(
                Shape.of(TOKENS.plus(1).dividedBy(2)),
                add(new Range(), number(0), tokens, number(2)).shape());
    }

    @Test
    void quotientsAndCastsKeepTheirFormula() {
        Value x = graph.input("x", DataType.FLOAT32, "batch", "tokens", 768);
        Value width = add(new Gather(0), add(ShapeOf.ALL, x), number(2));
        Value head = add(new Binary(Binary.Function.DIVIDE), width, number(12));
        Value cast = add(new Elementwise.Cast(DataType.INT64), add(new Elementwise.Cast(DataType.INT32), head));
        Value target = add(new Concat(0), length(x, 0), list(-1), list(12), add(new Unsqueeze(List.of(0L)), cast));
        assertEquals(
                Shape.of("batch", "tokens", 12, 64),
                add(Reshape.DEFAULT, x, target).shape());
    }

    @Test
    void numbersThatAreNoLengthsDoNoHarm() {
        Value large = list(Long.MAX_VALUE, 2);
        Value sum = add(new Binary(Binary.Function.ADD), large, list(1, 1));
        assertEquals(Shape.of(2), sum.shape());
        Value product = add(new Reduce(Reduce.Function.PRODUCT, List.of(0L), false), large);
        assertEquals(Shape.SCALAR, product.shape());
        Value narrow = add(new Elementwise.Cast(DataType.INT32), large);
        Graph made = graph.outputs(narrow, product, sum);
        assertNull(made.fact(narrow.name()).elements());
        assertNull(made.fact(sum.name()).elements());
    }
}
