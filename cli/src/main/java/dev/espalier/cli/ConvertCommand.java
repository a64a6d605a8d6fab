package dev.espalier.cli;

import dev.espalier.graph.Cost;
import dev.espalier.graph.Graph;
import dev.espalier.graph.Initializer.Kind;
import dev.espalier.graph.onnx.OnnxWriter;
import dev.espalier.graph.prune.SampleInputs;
import dev.espalier.graph.safetensors.Safetensors;
import dev.espalier.graph.type.Tensor;
import dev.espalier.runtime.Judge;
import dev.espalier.runtime.Timing;
import dev.espalier.train.task.RawInputs;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code espalier convert}: from one form of a model to another. */
@Command(
        name = "convert",
        description = {
            "Rewrite an ONNX model: simplified, with another opset, or as int8.",
            "Folds constants, removes dead nodes, and writes layer normalizations and GELUs as single operators.",
            "Before anything is written, ONNX Runtime runs the new model and the original file; the command fails if their outputs differ.",
            "An int8 model becomes a float32 model with the same weights; the difference of the outputs is printed.",
            "With --int8, a float model becomes an int8 model; both are compared and timed.",
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  espalier convert model.onnx int8.onnx --int8",
            "  espalier convert model.onnx model-13.onnx --opset 13",
        })
final class ConvertCommand implements Callable<Integer> {
    /** What an int8 model is compared and timed on, unless inputs are given. */
    private static final SampleInputs SAMPLES = new SampleInputs(4, 64, 1);

    private static final int THREADS = 1;

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it before call()
    private CommandSpec spec;

    @Parameters(
            index = "0",
            paramLabel = "IN",
            description = "An ONNX file, the folder of a training run, or that of a BERT checkpoint from Hugging Face.")
    @SuppressWarnings("NullAway.Init")
    private Path in;

    @Parameters(
            index = "1",
            paramLabel = "OUT",
            description = "Where to write: NAME.onnx for the model, NAME.safetensors for its weights only.")
    @SuppressWarnings("NullAway.Init")
    private Path out;

    @Option(
            names = "--opset",
            paramLabel = "N",
            description =
                    "The version of ONNX's operators, 13 to 24; without it that of the input, or the least that has"
                            + " all operators.")
    private int opset;

    @Option(names = "--external-data", description = "Put the weights into a file of their own beside the model.")
    private boolean externalData;

    @Mixin
    private Int8Options int8 = new Int8Options();

    @Mixin
    private CheckpointOption checkpoint = new CheckpointOption();

    @Override
    public Integer call() throws IOException {
        String name = out.toString();
        boolean onnx = name.endsWith(".onnx");
        if (!onnx && !name.endsWith(".safetensors")) {
            throw new IllegalArgumentException("OUT = " + out + ": its name must end in .onnx or .safetensors");
        }
        int8.check();
        if (!onnx && int8.isGiven()) {
            throw new IllegalArgumentException(
                    "OUT = " + out + ": an int8 model is written as ONNX, with a name that ends in .onnx");
        }
        ModelFile file = checkpoint.read(in);
        PrintWriter report = spec.commandLine().getOut();
        file.notes().forEach(report::println);
        if (onnx) {
            writeOnnx(file, report);
        } else {
            writeWeights(file.graph());
        }
        report.printf(
                Locale.ROOT,
                "%s: %,d nodes, %,d parameters%n",
                out,
                file.graph().nodes().size(),
                Cost.parameters(file.graph()));
        report.flush();
        return 0;
    }

    private void writeOnnx(ModelFile file, PrintWriter report) throws IOException {
        OnnxWriter.Options options = OnnxWriter.Options.DEFAULT;
        // Older versions are read, but not written.
        if (opset != 0 || file.opset() >= OnnxWriter.Options.LEAST_OPSET) {
            int same = Math.max(file.opset(), OnnxWriter.leastOpset(file.graph()));
            options = options.withOpset(opset != 0 ? opset : same);
        }
        if (externalData) {
            options = options.withExternalData();
        }
        if (file.original().isPresent()) {
            report.println(verdict(file.original().get(), file.graph(), options));
        } else if (file.rounded().isPresent()) {
            report.println(distance(file.rounded().get(), file.graph(), options));
        }
        OnnxWriter.write(int8.isGiven() ? quantized(file.graph(), options, report) : file.graph(), out, options);
    }

    private Graph quantized(Graph graph, OnnxWriter.Options options, PrintWriter report) throws IOException {
        StatusLine status = new StatusLine(spec.commandLine().getErr());
        try (Judge judge = RawInputs.judge(Judge.of(graph, SAMPLES, THREADS), graph, SAMPLES.batch())) {
            return int8.make(graph, judge.inputs(), THREADS, Timing.SECONDS, options, status::show, report);
        } finally {
            status.clear();
        }
    }

    private static String verdict(Path original, Graph graph, OnnxWriter.Options options) {
        try (Judge judge = Judge.of(original, graph, SampleInputs.DEFAULT, 1)) {
            return judge.verdict(judge.requireRead(graph, options));
        } catch (IllegalStateException refused) {
            return "NOT compared with the original: " + refused.getMessage();
        }
    }

    /** Models of which one rounds are not equal: all that can be said is how near they are. */
    private static String distance(Path rounded, Graph graph, OnnxWriter.Options options) {
        try (Judge judge = Judge.of(rounded, graph, SampleInputs.DEFAULT, 1)) {
            return String.format(
                    Locale.ROOT,
                    "near %s in ONNX Runtime: outputs differ by at most %.2g, the cosine of the angle between them is at least %.4f",
                    rounded,
                    judge.compare(graph, options).absolute(),
                    judge.cosine(graph, options));
        } catch (IllegalStateException refused) {
            return "NOT compared with the original: " + refused.getMessage();
        }
    }

    private void writeWeights(Graph graph) throws IOException {
        Map<String, Tensor> weights = new LinkedHashMap<>(graph.tensors(Kind.PARAMETER));
        weights.putAll(graph.tensors(Kind.BUFFER));
        Safetensors.write(out, weights, Map.of("format", "pt"));
    }
}
