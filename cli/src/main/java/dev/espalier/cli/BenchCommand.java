package dev.espalier.cli;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.espalier.bench.GpuHome;
import dev.espalier.bench.Home;
import dev.espalier.bench.HostHome;
import dev.espalier.bench.ModelShapes;
import dev.espalier.bench.ModelShapes.TensorShape;
import dev.espalier.bench.StepMeasurement;
import dev.espalier.core.check.Writing;
import dev.espalier.cuda.CudaSteps;
import dev.espalier.engine.Device;
import dev.espalier.engine.Network;
import dev.espalier.engine.Precision;
import dev.espalier.graph.Graph;
import java.io.IOException;
import java.io.PrintWriter;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code espalier bench}: what an optimizer step costs on this machine. */
@Command(
        name = "bench",
        description = {
            "Measure optimizer steps on the tensors of a real model.",
            "The floor is the memory traffic of Adam, 28 bytes a weight, at the best bandwidth of several plain loops (copy, read, update in place, triad).",
        })
final class BenchCommand implements Callable<Integer> {
    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it before call()
    private CommandSpec spec;

    @Option(
            names = "--model",
            paramLabel = "MODEL",
            description = "The model: ${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).")
    private ModelShapes model = ModelShapes.VGG16;

    @Option(
            names = "--rounds",
            paramLabel = "N",
            description = "How often everything is measured; the median counts (default: ${DEFAULT-VALUE}).")
    private int rounds = 25;

    @Option(names = "--device", paramLabel = "cpu|gpu", description = "Where to step (default: ${DEFAULT-VALUE}).")
    private Place device = Place.CPU;

    @Option(names = "--scaling", description = "Measure linear layers of 1, 10 and 100 million weights instead.")
    private boolean scaling;

    @Option(names = "--json", paramLabel = "FILE", description = "Also write the figures to a file, as JSON.")
    private @Nullable Path json;

    @Option(names = "--training", description = "Measure whole steps of training instead, on random samples.")
    private boolean training;

    @Option(
            names = "--batch",
            paramLabel = "N",
            description = "With --training: samples in a batch (default: 128 images, or 32 texts of 384 tokens).")
    private int batch;

    @Option(
            names = "--precision",
            paramLabel = "PRECISION",
            description = "With --training: ${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).")
    private Precision precision = Precision.FLOAT32;

    @Option(
            names = "--loading",
            paramLabel = "RECIPE",
            description = "Measure how fast the batches of a recipe are made instead, from its data alone.")
    private @Nullable Path loading;

    @Option(
            names = "--loaders",
            paramLabel = "N",
            description = "With --loading: threads that make them (default: one for each processor).")
    private int loaders = Runtime.getRuntime().availableProcessors();

    @Option(names = "--parts", description = "With --training: also what of a step takes how long, part by part.")
    private boolean parts;

    private enum Place {
        CPU,
        GPU
    }

    @Override
    public Integer call() throws IOException {
        if (rounds < 1) {
            throw new IllegalArgumentException("--rounds = " + rounds + " is out of range: it must be at least 1");
        }
        if (training) {
            training();
            return 0;
        }
        if (loading != null) {
            loading(loading);
            return 0;
        }
        if (scaling) {
            scaling();
            return 0;
        }
        StepMeasurement measured = measure(model.tensors());
        print(measured);
        if (json != null) {
            Path file = json;
            Writing.to(file, () -> Files.writeString(file, json(measured).toPrettyString() + "\n"));
        }
        return 0;
    }

    private StepMeasurement measure(List<TensorShape> tensors) {
        try (Home home = home()) {
            return measure(tensors, home);
        }
    }

    private Home home() {
        if (device == Place.CPU) {
            return new HostHome(Runtime.getRuntime().availableProcessors());
        }
        Optional<String> reason = CudaSteps.whyNot();
        if (reason.isEmpty()) {
            return new GpuHome();
        }
        PrintWriter err = spec.commandLine().getErr();
        err.println("No GPU can be used, so this measures the processor: " + reason.get());
        err.flush();
        return new HostHome(Runtime.getRuntime().availableProcessors());
    }

    private StepMeasurement measure(List<TensorShape> tensors, Home home) {
        StatusLine status = new StatusLine(spec.commandLine().getErr());
        StepMeasurement measured = StepMeasurement.of(tensors, home, rounds, status::show);
        status.clear();
        return measured;
    }

    private void print(StepMeasurement measured) {
        double floor = measured.floorMilliseconds();
        double adamw = measured.adamwMilliseconds();
        PrintWriter out = spec.commandLine().getOut();
        out.printf(Locale.ROOT, "%s, %,d weights, %s%n%n", model, measured.parameters(), measured.kernel());
        out.printf(
                Locale.ROOT,
                "bandwidth     %8.1f GB/s  of %s (%s)%n",
                measured.bandwidth(),
                measured.bestLoop(),
                measured.gigabytesPerSecond().entrySet().stream()
                        .map(loop -> String.format(Locale.ROOT, "%s %.1f", loop.getKey(), loop.getValue()))
                        .collect(Collectors.joining(", ")));
        out.printf(Locale.ROOT, "floor         %8.3f ms%n", floor);
        out.printf(Locale.ROOT, "AdamW         %8.3f ms   %5.2f x floor%n", adamw, adamw / floor);
        out.printf(
                Locale.ROOT,
                "+ l1/l2       %8.3f ms   %5.2f x AdamW%n",
                measured.lassoMilliseconds(),
                measured.lassoMilliseconds() / adamw);
        out.printf(
                Locale.ROOT,
                "+ group MCP   %8.3f ms   %5.2f x AdamW%n",
                measured.mcpMilliseconds(),
                measured.mcpMilliseconds() / adamw);
        out.printf(
                Locale.ROOT,
                "iterations    %8.2f cold, %.2f warm, for each group that is not zero%n",
                measured.coldIterations(),
                measured.warmIterations());
        out.flush();
    }

    private ObjectNode json(StepMeasurement measured) {
        double adamw = measured.adamwMilliseconds();
        return JsonNodeFactory.instance
                .objectNode()
                .put("model", model.toString())
                .put("parameters", measured.parameters())
                .put("kernel", measured.kernel())
                .put("bandwidth_gbps", measured.bandwidth())
                .put("bandwidth_of", measured.bestLoop().toString())
                .put("floor_ms", measured.floorMilliseconds())
                .put("adamw_ms", adamw)
                .put("group_lasso_ms", measured.lassoMilliseconds())
                .put("group_mcp_ms", measured.mcpMilliseconds())
                .put("adamw_over_floor", adamw / measured.floorMilliseconds())
                .put("group_lasso_over_adamw", measured.lassoMilliseconds() / adamw)
                .put("group_mcp_over_adamw", measured.mcpMilliseconds() / adamw)
                .put("warm_iterations", measured.warmIterations())
                .put("cold_iterations", measured.coldIterations());
    }

    /** On a GPU twice, with passes that are recorded and with such that are not: both must come to the same bits. */
    private void training() {
        Device where = device == Place.CPU ? Device.CPU : Device.gpu(0).require();
        PrintWriter out = spec.commandLine().getOut();
        out.printf(
                Locale.ROOT,
                "%s, %d samples a step, %s, %s, %s%n%n",
                model,
                TrainingBench.samples(model, batch),
                precision,
                where,
                Network.engine());
        TrainingBench plain = training(where, false);
        print("one by one", plain);
        if (where.isGpu()) {
            TrainingBench recorded = training(where, true);
            print("recorded", recorded);
            out.printf(
                    "%s%n",
                    same(plain.model(), recorded.model()) ? "the same weights, bit for bit" : "the weights differ");
        }
        if (parts) {
            StatusLine status = new StatusLine(spec.commandLine().getErr());
            TrainingParts measured = TrainingBench.parts(model, batch, where, precision, rounds, status::show);
            status.clear();
            out.printf("%nPart by part, each waited for:%n%s", measured);
        }
        out.flush();
    }

    private TrainingBench training(Device where, boolean recorded) {
        StatusLine status = new StatusLine(spec.commandLine().getErr());
        TrainingBench measured = TrainingBench.of(model, batch, where, precision, recorded, rounds, status::show);
        status.clear();
        return measured;
    }

    private static boolean same(Graph one, Graph other) {
        return one.initializers().keySet().stream()
                .allMatch(name -> bytes(one, name).mismatch(bytes(other, name)) == -1);
    }

    private static MemorySegment bytes(Graph model, String name) {
        return Objects.requireNonNull(model.tensor(name), name).data();
    }

    private void print(String how, TrainingBench measured) {
        PrintWriter out = spec.commandLine().getOut();
        double median = measured.millisecondsOfStep();
        out.printf(
                Locale.ROOT,
                "%-12s %8.2f ms (least %.2f)   %,9.0f samples/s   loss %.6f%n",
                how,
                median,
                measured.least(),
                1e3 * TrainingBench.samples(model, batch) / median,
                measured.loss());
        if (parts) {
            out.print(measured.parts());
        }
        out.flush();
    }

    private void loading(Path recipe) throws IOException {
        StatusLine status = new StatusLine(spec.commandLine().getErr());
        LoadingBench measured = LoadingBench.of(recipe, loaders, rounds, status::show);
        status.clear();
        PrintWriter out = spec.commandLine().getOut();
        out.printf(
                Locale.ROOT,
                "%s, %d threads: %,.0f %s/s (first epoch %,.0f)%n",
                recipe.getFileName(),
                measured.loaders(),
                measured.perSecond(),
                measured.samples(),
                measured.first());
        out.flush();
    }

    private void scaling() {
        PrintWriter out = spec.commandLine().getOut();
        out.println("   weights   AdamW ns/weight   l1/l2 ns/weight   group MCP ns/weight");
        for (int layers : new int[] {1, 10, 100}) {
            StepMeasurement measured = measure(ModelShapes.linearLayers(layers));
            double each = 1e6 / measured.parameters();
            out.printf(
                    Locale.ROOT,
                    "%,10d   %15.2f   %15.2f   %19.2f%n",
                    measured.parameters(),
                    measured.adamwMilliseconds() * each,
                    measured.lassoMilliseconds() * each,
                    measured.mcpMilliseconds() * each);
            out.flush();
        }
    }
}
