package dev.espalier.cli;

import dev.espalier.data.array.NamedArrays;
import dev.espalier.graph.Graph;
import dev.espalier.graph.onnx.OnnxWriter;
import dev.espalier.graph.op.Conv;
import dev.espalier.graph.quantize.Quantization;
import dev.espalier.graph.type.Dimension;
import dev.espalier.graph.type.Shape;
import dev.espalier.graph.type.Tensor;
import dev.espalier.runtime.Int8;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** {@code --int8} and what belongs to it, for commands that write models. */
final class Int8Options {
    private static final String RANDOM = "random";

    /** How many rows are run at once, */
    private static final long ROWS = 16;

    /** and how often: more tell little. */
    private static final long BATCHES = 16;

    @Option(
            names = "--int8",
            description =
                    "Write an int8 model: matrices and tables, and with --calibrate also convolutions. It is first compared with the"
                            + " float model; the difference is printed.")
    private boolean int8;

    @Option(
            names = "--calibrate",
            paramLabel = "FILE|random",
            description =
                    "Inputs to calibrate convolutions on: an .npz file with an array for each input, or an .npy"
                            + " file if there is one input; some hundred rows will do. random: normally distributed ones, to try it out.")
    private @Nullable String calibrate;

    @Option(
            names = "--int8-bits",
            paramLabel = "8|7",
            description =
                    "How many bits of a weight are used (default: 8). 7 is for x86-64 processors without VNNI, whose sums of products"
                            + " overflow otherwise.")
    private int bits = Quantization.BITS;

    boolean isGiven() {
        return int8;
    }

    /** Refuses what has no meaning, before anything is read. */
    void check() {
        if (!int8 && (calibrate != null || bits != Quantization.BITS)) {
            throw new IllegalArgumentException((calibrate != null ? "--calibrate" : "--int8-bits")
                    + " is about int8 models: give --int8 too, or leave it out");
        }
        if (bits != 7 && bits != 8) {
            throw new IllegalArgumentException("--int8-bits = " + bits + " is out of range: it must be 8 or 7");
        }
    }

    /**
     * Makes the int8 model, and says what became of it.
     *
     * @param samples inputs to compare models on if no others are given
     * @param seconds how long latency may be measured; 0 for not at all
     */
    Graph make(
            Graph graph,
            List<Map<String, Tensor>> samples,
            int threads,
            double seconds,
            OnnxWriter.Options writing,
            Consumer<String> progress,
            PrintWriter out)
            throws IOException {
        boolean own = calibrate != null && !calibrate.equals(RANDOM);
        List<Map<String, Tensor>> batches =
                calibrate == null || calibrate.equals(RANDOM) ? samples : batches(graph, Path.of(calibrate));
        Int8.Settings settings = new Int8.Settings(
                bits, calibrate != null, Int8.Settings.LEAST_COSINE, threads, seconds, writing, progress);
        Int8 made = Int8.of(graph, batches, settings);
        progress.accept("");
        Quantization quantization = made.quantization();
        boolean nothing = quantization.matrices() + quantization.tables() + quantization.convolutions() == 0;
        long convolutions = graph.nodes().stream()
                .filter(node -> node.operator() instanceof Conv)
                .count();
        if (nothing) {
            throw new IllegalArgumentException("--int8: nothing of the model can become int8, so nothing was written. "
                    + (convolutions > 0 && calibrate == null
                            ? wanting(convolutions)
                            : "What is left: " + String.join("; ", quantization.left())));
        }
        out.println(made.summary());
        if (convolutions > 0 && calibrate == null) {
            out.println("Left in float32: " + wanting(convolutions));
        } else if (!quantization.left().isEmpty()) {
            out.println("Left in float32: " + String.join("; ", quantization.left()));
        }
        if (!own) {
            out.println("The inputs were random: how near the models are on yours "
                    + (calibrate == null
                            ? "may differ"
                            : "may differ, and so may the ranges of what flows between convolutions")
                    + "; --calibrate FILE takes yours");
        }
        return made.graph();
    }

    private static String wanting(long convolutions) {
        return "%,d %s, for want of inputs to measure what flows through them: --calibrate FILE.npz, or .npy, with some of the model's"
                .formatted(convolutions, convolutions == 1 ? "convolution" : "convolutions");
    }

    /** Rows of a file, some at a time. */
    private static List<Map<String, Tensor>> batches(Graph graph, Path file) throws IOException {
        SequencedMap<String, Tensor> arrays = NamedArrays.read(file);
        Map<String, Tensor> whole = new LinkedHashMap<>();
        long rows = Long.MAX_VALUE;
        long most = ROWS;
        for (Graph.Input input : graph.inputs()) {
            Tensor array = graph.inputs().size() == 1 && arrays.size() == 1
                    ? arrays.firstEntry().getValue()
                    : arrays.get(input.name());
            if (array == null) {
                throw new IllegalArgumentException(
                        "--calibrate %s: no array for the input %s; it has %s, the model takes %s"
                                .formatted(file, input.name(), arrays.keySet(), wanted(graph)));
            }
            requireFits(file, graph, input, array);
            whole.put(input.name(), array.cast(input.type().data()));
            rows = Math.min(rows, array.shape()[0]);
            Dimension first = input.type().shape().get(0);
            most = first.isKnown() ? first.value() : most;
        }
        Set<Long> lengths = new TreeSet<>();
        whole.values().forEach(array -> lengths.add(array.shape()[0]));
        if (lengths.size() > 1) {
            throw new IllegalArgumentException(
                    "--calibrate %s: its arrays have different numbers of rows, %s".formatted(file, lengths));
        }
        if (rows < most && most != ROWS) {
            throw new IllegalArgumentException(
                    "--calibrate %s: it has %d rows, but the model takes %d at once".formatted(file, rows, most));
        }
        List<Map<String, Tensor>> batches = new ArrayList<>();
        long step = Math.min(most, rows);
        for (long from = 0; from + step <= rows && batches.size() < BATCHES; from += step) {
            Map<String, Tensor> batch = new LinkedHashMap<>();
            for (Map.Entry<String, Tensor> array : whole.entrySet()) {
                batch.put(array.getKey(), rows(array.getValue(), from, step));
            }
            batches.add(batch);
        }
        return batches;
    }

    private static Tensor rows(Tensor array, long from, long count) {
        long[] shape = array.shape();
        long bytes = array.data().byteSize() / shape[0];
        shape[0] = count;
        return Tensor.of(array.type(), shape, array.data().asSlice(from * bytes, count * bytes));
    }

    private static void requireFits(Path file, Graph graph, Graph.Input input, Tensor array) {
        Shape wanted = input.type().shape();
        long[] shape = array.shape();
        boolean fits = wanted.rank() == shape.length && wanted.rank() > 0;
        for (int axis = 1; fits && axis < shape.length; axis++) {
            fits = !wanted.get(axis).isKnown() || wanted.get(axis).value() == shape[axis];
        }
        if (!fits) {
            throw new IllegalArgumentException(
                    "--calibrate %s: the array for the input %s is %s, but the model takes %s"
                            .formatted(file, input.name(), array, wanted(graph)));
        }
    }

    private static String wanted(Graph graph) {
        return graph.inputs().stream()
                .map(input -> input.name() + ": " + input.type())
                .collect(Collectors.joining(", "));
    }
}
