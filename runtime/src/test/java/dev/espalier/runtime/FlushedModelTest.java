package dev.espalier.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.graph.Graph;
import dev.espalier.graph.GraphBuilder;
import dev.espalier.graph.Value;
import dev.espalier.graph.op.MatMul;
import dev.espalier.graph.prune.SampleInputs;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import org.junit.jupiter.api.Test;

final class FlushedModelTest {
    /** Two layers; the columns of the first are of very different sizes, and the second may make up for that. */
    private static Graph model(double first, double second) {
        GraphBuilder builder = new GraphBuilder("tiny weights");
        Value x = builder.input("x", DataType.FLOAT32, "batch", 4);
        Tensor hidden = Tensor.compute(DataType.FLOAT32, new long[] {4, 6}, i -> (1 + i) * (i % 6 < 3 ? first : 0.1));
        Tensor answer = Tensor.compute(DataType.FLOAT32, new long[] {6, 2}, i -> (1 + i) * (i / 2 < 3 ? second : 0.1));
        return builder.outputs(builder.add(
                "y",
                new MatMul(),
                builder.add("h", new MatMul(), x, builder.parameter("hidden", hidden)),
                builder.parameter("answer", answer)));
    }

    private static FlushedModel flushed(Graph model) {
        try (Judge judge = Judge.of(model, SampleInputs.DEFAULT, 1)) {
            return FlushedModel.of(model, judge);
        }
    }

    private static double first(Graph model) {
        Tensor tensor = model.tensor("hidden");
        return tensor == null ? Double.NaN : tensor.getDouble(0);
    }

    @Test
    void subnormalWeightsBecomeZeroAndAreCounted() {
        Graph model = model(1e-40, 1);
        assertEquals(12, FlushedModel.count(model));
        FlushedModel flushed = flushed(model);
        assertEquals(12, flushed.flushed());
        assertEquals(12, flushed.subnormal());
        assertEquals(0, FlushedModel.count(flushed.graph()));
        assertEquals(0, first(flushed.graph()));
        assertTrue(flushed.words().orElseThrow().startsWith("12 weights below 7.9e-31 were set to zero, 12 of them"));
    }

    /** Times an activation they are subnormal, and then runs are as slow. */
    @Test
    void weightsThatAreSubnormalTimesAnActivationBecomeZeroToo() {
        FlushedModel flushed = flushed(model(1e-36, 1));
        assertEquals(12, flushed.flushed());
        assertEquals(0, flushed.subnormal());
    }

    @Test
    void whatCountsInTheOutputStays() {
        Graph model = model(1e-33, 1e33);
        assertEquals(12, FlushedModel.count(model));
        FlushedModel flushed = flushed(model);
        assertSame(model, flushed.graph());
        assertEquals(0, flushed.flushed());
        assertTrue(flushed.words().isEmpty());
    }

    @Test
    void anOrdinaryModelStaysAsItIs() {
        Graph model = model(1e-10, 1);
        assertEquals(0, FlushedModel.count(model));
        assertSame(model, flushed(model).graph());
    }
}
