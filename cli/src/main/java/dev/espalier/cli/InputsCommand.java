package dev.espalier.cli;

import dev.espalier.data.Batch;
import dev.espalier.data.BatchPlan;
import dev.espalier.data.BatchPosition;
import dev.espalier.data.Batches;
import dev.espalier.data.Context;
import dev.espalier.data.DataSection;
import dev.espalier.data.Field;
import dev.espalier.data.LoadedData;
import dev.espalier.data.ModelInput;
import dev.espalier.graph.Graph;
import dev.espalier.graph.type.Tensor;
import dev.espalier.text.WordPiece;
import dev.espalier.train.inputs.DeclaredInputs;
import dev.espalier.train.inputs.InputsGuess;
import dev.espalier.train.inputs.TrainedEncoding;
import dev.espalier.train.task.Signature;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code espalier inputs}: what a model would be given of some files, before anything is trained on it. */
@Command(
        name = "inputs",
        description = {
            "Print a batch of inputs as the model would receive it.",
            "Prints the model's inputs, the settings of [data] for them, and one batch. Wrong preprocessing gives wrong answers without an error, so check it first.",
        })
final class InputsCommand implements Callable<Integer> {
    private static final long SEED = 1;
    private static final int LONGEST = 160;

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it before call()
    private CommandSpec spec;

    @Parameters(index = "0", paramLabel = "MODEL", description = "An ONNX file.")
    @SuppressWarnings("NullAway.Init")
    private Path model;

    @Parameters(index = "1", paramLabel = "INPUTS", description = "Its inputs: " + InputsGuess.TAKES + ".")
    @SuppressWarnings("NullAway.Init")
    private String what;

    @Option(
            names = "--set",
            paramLabel = "KEY=VALUE",
            description = "A setting of the section [data], such as data.size=224. Can be given several times.")
    private List<String> settings = new ArrayList<>();

    @Option(
            names = "--tokenizer",
            paramLabel = "PATH",
            description = "A tokenizer.json, a vocab.txt or a folder with one of them (default: next to the model).")
    private @Nullable Path tokenizer;

    @Option(
            names = "--rows",
            paramLabel = "N",
            description = "Rows of the batch that is shown (default: ${DEFAULT-VALUE}).")
    private int rows = 4;

    @Override
    public Integer call() throws IOException {
        PrintWriter out = spec.commandLine().getOut();
        if (rows < 1) {
            throw new IllegalArgumentException("--rows = %d must be at least 1".formatted(rows));
        }
        Graph graph = DeclaredInputs.inTraining(ModelFile.read(model).graph());
        List<ModelInput> inputs = DeclaredInputs.of(graph);
        out.println(model + " takes");
        inputs.forEach(input -> out.println("  " + input));
        InputsGuess guess = InputsGuess.of(what, model, graph, settings);
        out.println();
        out.println("[data]");
        guess.values().texts().forEach((key, value) -> {
            if (isSaid(guess, key)) {
                out.println(key.substring(key.indexOf('.') + 1) + " = " + value);
            }
        });
        out.println();
        out.flush();
        LoadedData data = TrainedEncoding.of(load(guess, inputs), graph);
        new Signature(data.train().name(), Signature.inputsOf(data.inputs()), List.of())
                .withInputs(graph, model.toString());
        guess.notes().forEach(note -> out.println("note: " + note));
        data.notes().forEach(note -> out.println("note: " + note));
        out.printf(
                Locale.ROOT,
                "%,d rows to learn from and %,d for the test; of a batch:%n",
                data.train().size(),
                data.test().size());
        show(data, out);
        out.flush();
        return 0;
    }

    private static boolean isSaid(InputsGuess guess, String key) {
        return guess.settings().stream().anyMatch(setting -> setting.startsWith(key + "="));
    }

    private LoadedData load(InputsGuess guess, List<ModelInput> inputs) throws IOException {
        StatusLine status = new StatusLine(spec.commandLine().getErr());
        try {
            return DataSection.load(
                    guess.values(),
                    new Context(
                            (name, done, total) -> status.show("%,d %s".formatted(done, name)),
                            Optional.of(tokenizerPlace()),
                            () -> inputs));
        } finally {
            status.clear();
        }
    }

    private Path tokenizerPlace() {
        return tokenizer != null
                ? tokenizer
                : Objects.requireNonNullElse(model.toAbsolutePath().getParent(), model);
    }

    private void show(LoadedData data, PrintWriter out) throws IOException {
        BatchPlan plan =
                BatchPlan.training(Math.min(rows, data.train().size()), SEED).withThreads(1, 1);
        try (Batches batches = data.batches(plan, BatchPosition.START, 1)) {
            Batch batch = batches.next();
            for (Field field : data.inputs()) {
                Tensor tensor = Objects.requireNonNull(batch.inputs().get(field.name()));
                out.println("  %s %s%s %s"
                        .formatted(
                                field.name(),
                                tensor.type().name().toLowerCase(Locale.ROOT),
                                Arrays.toString(tensor.shape()),
                                spread(tensor)));
                if (field instanceof Field.Tokens tokens
                        && !tokens.texts().isEmpty()
                        && data.inputs().indexOf(field) == 0) {
                    showTexts(tensor, out);
                }
            }
        }
    }

    /** The least, the largest and the mean: pixels from 0 to 255 for a model that wants −1 to 1 are seen at once. */
    private static String spread(Tensor tensor) {
        double least = Double.POSITIVE_INFINITY;
        double most = Double.NEGATIVE_INFINITY;
        double sum = 0;
        for (long i = 0; i < tensor.size(); i++) {
            double value = tensor.getDouble(i);
            least = Math.min(least, value);
            most = Math.max(most, value);
            sum += value;
        }
        return tensor.type().isFloat()
                ? String.format(Locale.ROOT, "from %.4g to %.4g, mean %.4g", least, most, sum / tensor.size())
                : String.format(Locale.ROOT, "from %,.0f to %,.0f", least, most);
    }

    private void showTexts(Tensor ids, PrintWriter out) throws IOException {
        int length = Math.toIntExact(ids.shape()[1]);
        try (WordPiece pieces = WordPiece.load(tokenizerPlace())) {
            long unknown = 0;
            long filled = 0;
            for (int row = 0; row < ids.shape()[0]; row++) {
                int[] tokens = new int[length];
                for (int i = 0; i < length; i++) {
                    tokens[i] = Math.toIntExact(ids.getLong((long) row * length + i));
                    unknown += tokens[i] == pieces.unknown() ? 1 : 0;
                    filled += tokens[i] == pieces.padding() ? 1 : 0;
                }
                String text = pieces.decode(tokens);
                out.println("    " + (text.length() > LONGEST ? text.substring(0, LONGEST) + "…" : text));
            }
            out.printf(
                    Locale.ROOT,
                    "    %.2f %% of the tokens are unknown, and %.0f %% fill up%n",
                    100.0 * unknown / Math.max(1, ids.size() - filled),
                    100.0 * filled / ids.size());
        }
    }
}
