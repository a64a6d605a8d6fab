package dev.espalier.graph.quantize;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.graph.Graph;
import dev.espalier.graph.GraphBuilder;
import dev.espalier.graph.Node;
import dev.espalier.graph.Value;
import dev.espalier.graph.op.Binary;
import dev.espalier.graph.op.Gather;
import dev.espalier.graph.op.Gemm;
import dev.espalier.graph.op.MatMul;
import dev.espalier.graph.quantize.Quantization.Options;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** What an int8 model is made of. */
final class QuantizationTest {
    private static final Binary ADD = new Binary(Binary.Function.ADD);

    private static Tensor random(long seed, long... shape) {
        Random random = new Random(seed);
        return Tensor.compute(DataType.FLOAT32, shape, i -> random.nextGaussian());
    }

    private static List<String> labels(Graph graph) {
        return graph.nodes().stream().map(node -> node.operator().label()).toList();
    }

    private static long count(Graph graph, String label) {
        return labels(graph).stream().filter(label::equals).count();
    }

    private static Tensor contents(Graph graph, String name) {
        return Objects.requireNonNull(graph.tensor(name), name);
    }

    private static Node producer(Graph graph, String tensor) {
        return Objects.requireNonNull(graph.producer(tensor), tensor);
    }

    /** The form that ONNX Runtime joins to one operator has the bias last, wherever the float model has it. */
    @Test
    void productBecomesThePatternThatIsJoined() {
        GraphBuilder graph = new GraphBuilder("product");
        Value x = graph.input("x", DataType.FLOAT32, "batch", "tokens", 48);
        Value product = graph.add("product", new MatMul(), x, graph.parameter("weight", random(1, 48, 32)));
        Value bias = graph.parameter("bias", random(2, 32));
        Quantization made = Quantization.dynamic(graph.outputs(graph.add("y", ADD, bias, product)), Options.DEFAULT);
        Graph int8 = made.graph();
        assertEquals(1, made.matrices());
        assertEquals(List.of(), made.left());
        assertEquals(List.of("DynamicQuantizeLinear", "Mul", "MatMulInteger", "Cast", "Mul", "Add"), labels(int8));
        Node sum = int8.nodes().getLast();
        assertEquals(List.of("product", "bias"), sum.inputs());
        Node scaled = int8.nodes().get(4);
        Node cast = producer(int8, scaled.input(0));
        assertEquals("Cast", cast.operator().label());
        Node scale = producer(int8, scaled.input(1));
        assertEquals(
                "DynamicQuantizeLinear",
                producer(int8, scale.input(0)).operator().label());
        assertEquals(32, contents(int8, scale.input(1)).size());
        Node product8 = producer(int8, cast.input(0));
        assertEquals(DataType.INT8, contents(int8, product8.input(1)).type());
        assertFalse(int8.initializers().containsKey("weight"), "the float weight stayed");
    }

    @Test
    void oneRoundingServesAllReadersOfAnActivation() {
        GraphBuilder graph = new GraphBuilder("attention");
        Value x = graph.input("x", DataType.FLOAT32, "tokens", 32);
        Value query = graph.add("query", new MatMul(), x, graph.parameter("q", random(1, 32, 32)));
        Value key = graph.add("key", new MatMul(), x, graph.parameter("k", random(2, 32, 32)));
        Value shared = graph.parameter("v", random(3, 32, 32));
        Value value = graph.add("value", new MatMul(), x, shared);
        Value again = graph.add("again", new MatMul(), value, shared);
        Quantization made = Quantization.dynamic(graph.outputs(query, key, value, again), Options.DEFAULT);
        assertEquals(2, count(made.graph(), "DynamicQuantizeLinear"));
        assertEquals(4, count(made.graph(), "MatMulInteger"));
        assertEquals(3, made.matrices());
    }

    @Test
    void everyChannelHasItsOwnScale() {
        Tensor weight = random(1, 200, 3);
        Tensor uneven = Tensor.compute(
                DataType.FLOAT32,
                weight.shape(),
                i -> weight.getDouble(i) * Math.pow(10, 2.0 * (i % 3)) * (i % 3 == 2 ? 0 : 1));
        for (int largest : new int[] {127, 64}) {
            Codes codes = Codes.of(uneven, 1, largest);
            assertEquals(1, codes.scales().getDouble(2), "a channel of zeros");
            for (int channel = 0; channel < 2; channel++) {
                double most = 0;
                double error = 0;
                double plain = 0;
                for (int row = 0; row < 200; row++) {
                    most = Math.max(most, Math.abs(uneven.getDouble(row * 3L + channel)));
                }
                for (int row = 0; row < 200; row++) {
                    double value = uneven.getDouble(row * 3L + channel);
                    long code = codes.codes().getLong(row * 3L + channel);
                    assertTrue(Math.abs(code) <= largest, "code " + code);
                    error += Math.pow(value - code * codes.scales().getDouble(channel), 2);
                    plain += Math.pow(value - Math.rint(value / most * largest) * most / largest, 2);
                }
                assertTrue(error <= plain * 1.0001, error + " is more than " + plain);
                assertTrue(codes.scales().getDouble(channel) <= most / largest * 1.0001, "scale of " + channel);
            }
        }
    }

    @Test
    void rowsAreLookedUpAsCodes() {
        GraphBuilder graph = new GraphBuilder("table");
        Value ids = graph.input("ids", DataType.INT64, "batch", "tokens");
        Value rows = graph.add("rows", new Gather(0), graph.parameter("table", random(1, 100, 16)), ids);
        Quantization made = Quantization.dynamic(graph.outputs(rows), Options.DEFAULT);
        assertEquals(List.of("Gather", "DequantizeLinear"), labels(made.graph()));
        assertEquals(1, made.tables());
        assertEquals(graph.outputs(rows).shape("rows"), made.graph().shape("rows"));
    }

    @Test
    void whatCannotBecomeCodesStaysAndIsTold() {
        GraphBuilder graph = new GraphBuilder("left");
        Value x = graph.input("x", DataType.FLOAT32, 64, 64);
        Value small = graph.add("small", new MatMul(), x, graph.parameter("tiny", random(1, 64, 2)));
        Value before = graph.add("before", new MatMul(), graph.parameter("first", random(2, 64, 64)), x);
        Tensor broken = Tensor.compute(DataType.FLOAT32, new long[] {64, 64}, i -> i == 7 ? Double.NaN : 1);
        Value nan = graph.add("nan", Gemm.LINEAR, x, graph.parameter("broken", broken));
        Value both = graph.add("both", new MatMul(), x, x);
        Graph model = graph.outputs(small, before, nan, both);
        Quantization made = Quantization.dynamic(model, Options.DEFAULT);
        assertEquals(0, made.matrices());
        assertEquals(Set.copyOf(labels(model)), Set.copyOf(labels(made.graph())));
        assertEquals(
                Set.of(
                        "small: its weight has fewer than 1024 elements",
                        "before: its matrix stands on the left",
                        "nan: its weight has elements that are no finite numbers"),
                Set.copyOf(made.left()));
    }

    @Test
    void rangesHaveZeroAndGiveUpFewFarElementsForFinerSteps() {
        assertEquals(new Range(0, 5), new Range(2, 5));
        assertEquals(128, new Range(-1, 1).zero(), 1);
        assertEquals(0, new Range(3, 5).zero());
        Random random = new Random(1);
        float[] elements = new float[20_000];
        for (int i = 0; i < elements.length; i++) {
            elements[i] = (float) random.nextGaussian();
        }
        elements[5] = 12;
        Range fitting = Range.fitting(new Range(-12, 12), elements);
        assertTrue(fitting.high() < 11 && fitting.high() > 4, fitting.toString());
        assertThrows(IllegalArgumentException.class, () -> new Range(0, Double.NaN));
        assertThrows(IllegalArgumentException.class, () -> new Options(6, Set.of()));
    }
}
