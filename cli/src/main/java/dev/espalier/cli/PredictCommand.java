package dev.espalier.cli;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.espalier.data.Batches;
import dev.espalier.data.Encoding;
import dev.espalier.graph.type.Tensor;
import dev.espalier.runtime.ThreadTunedModel;
import dev.espalier.train.journal.ModelCard;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SequencedMap;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code espalier predict}: what a trained model says of rows, texts or images. */
@Command(
        name = "predict",
        description = {
            "Predict rows of a table, texts or images with a trained model.",
            "Prints a class and its probability, or numbers. Columns are matched by name, in any order; others are ignored. ONNX Runtime runs the model.",
        })
final class PredictCommand implements Callable<Integer> {
    /** Rows that are computed at once. */
    private static final int BATCH = 256;

    /** How answers are written. */
    enum Format {
        /** A table, its columns named in the first line. */
        CSV,
        /** A JSON object in every line. */
        JSONL
    }

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it before call()
    private CommandSpec spec;

    @Parameters(
            index = "1..*",
            arity = "1..*",
            paramLabel = "FILE",
            description = {InputOptions.TABLES, "Or PNG and JPEG files, for a model of images."})
    @SuppressWarnings("NullAway.Init")
    private List<Path> files;

    @Option(
            names = "--format",
            paramLabel = "FORMAT",
            description = "What to print: ${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).")
    private Format format = Format.CSV;

    @Mixin
    private InputOptions input = new InputOptions();

    @Override
    public Integer call() throws IOException {
        ServedModel served = input.model();
        StatusLine status = new StatusLine(spec.commandLine().getErr());
        ProgressPrinter progress = new ProgressPrinter(status, "");
        ServedModel.Rows rows = served.rows(files, input, progress);
        Encoding raw = new Encoding(served.encoding().raw().inputs(), List.of());
        PrintWriter out = spec.commandLine().getOut();
        int row = 0;
        try (ThreadTunedModel runtime = input.runtime(served.file(), line -> {
                    status.clear();
                    spec.commandLine().getErr().println(line);
                });
                Batches batches = Batches.evaluation(rows.dataset(), raw, BATCH)) {
            while (batches.hasNext()) {
                Map<String, Tensor> inputs = new LinkedHashMap<>();
                batches.next().inputs().forEach((name, tensor) -> {
                    String own = served.names().get(name);
                    if (own != null) {
                        inputs.put(own, tensor);
                    }
                });
                Map<String, Tensor> said = runtime.run(inputs);
                int size = (int) inputs.values().iterator().next().shape()[0];
                status.clear();
                for (int i = 0; i < size; i++, row++) {
                    SequencedMap<String, Object> answer = new LinkedHashMap<>();
                    answer.put(rows.placeName(), rows.places().get(row));
                    for (ModelCard.Output output : served.card().outputs()) {
                        add(answer, output, numbers(Objects.requireNonNull(said.get(output.name())), i));
                    }
                    print(answer, row == 0, out);
                }
                // Whoever reads along, or a pipe's other end, has the answers as soon as they are there.
                out.flush();
                progress.count(
                        "answered", rows.placeName() + "s", row, rows.places().size());
            }
        } finally {
            status.clear();
        }
        return 0;
    }

    private static double[] numbers(Tensor tensor, int row) {
        int size = (int) (tensor.size() / tensor.shape()[0]);
        double[] numbers = new double[size];
        for (int i = 0; i < size; i++) {
            numbers[i] = tensor.getDouble((long) row * size + i);
        }
        return numbers;
    }

    private static void add(SequencedMap<String, Object> answer, ModelCard.Output output, double[] numbers) {
        if (output.kind().equals("classes") && numbers.length == output.names().size()) {
            int best = 0;
            double sum = 0;
            for (int i = 1; i < numbers.length; i++) {
                best = numbers[i] > numbers[best] ? i : best;
            }
            for (double number : numbers) {
                sum += Math.exp(number - numbers[best]);
            }
            answer.put(
                    output.target().isEmpty() ? output.name() : output.target(),
                    output.names().get(best));
            answer.put("probability", (float) (1 / sum));
            return;
        }
        for (int i = 0; i < numbers.length; i++) {
            String name =
                    numbers.length == output.names().size() ? output.names().get(i) : output.name() + "[" + i + "]";
            boolean yes = numbers[i] > 0;
            answer.put(name, output.kind().equals("labels") ? (Object) (yes ? 1 : 0) : (Object) (float) numbers[i]);
        }
    }

    private void print(SequencedMap<String, Object> answer, boolean first, PrintWriter out) {
        switch (format) {
            case CSV -> {
                if (first) {
                    printRow(answer.sequencedKeySet().stream().toList(), out);
                }
                printRow(answer.sequencedValues().stream().map(String::valueOf).toList(), out);
            }
            case JSONL -> {
                ObjectNode line = JsonNodeFactory.instance.objectNode();
                answer.forEach((name, value) -> {
                    switch (value) {
                        case Integer whole -> line.put(name, whole);
                        case Float number -> line.put(name, number);
                        case Object text -> line.put(name, text.toString());
                    }
                });
                out.println(line);
            }
        }
    }

    private static void printRow(List<String> cells, PrintWriter out) {
        out.println(String.join(",", cells.stream().map(PredictCommand::quoted).toList()));
    }

    private static String quoted(String cell) {
        return cell.matches("(?s).*[\",\r\n].*") ? '"' + cell.replace("\"", "\"\"") + '"' : cell;
    }
}
