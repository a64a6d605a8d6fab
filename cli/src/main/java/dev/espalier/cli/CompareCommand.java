package dev.espalier.cli;

import dev.espalier.core.check.Check;
import dev.espalier.data.Context;
import dev.espalier.report.Report;
import dev.espalier.squad.Retrieval;
import dev.espalier.squad.Squad;
import dev.espalier.train.inputs.InputsGuess;
import dev.espalier.train.journal.Comparison;
import dev.espalier.train.run.ModelPair;
import dev.espalier.train.task.OutputMeaning;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code espalier compare}: how faithful a smaller model is to its original. */
@Command(
        name = "compare",
        description = {
            "Compare a small model with its original: outputs, size, speed.",
            "Runs both files in ONNX Runtime on the same inputs. Prints how closely each output matches, the rows that differ most, file size, parameters, FLOPs, and latency on one thread and on several.",
            "With --task retrieval, scores models that embed texts: each question of a SQuAD file must find the paragraph that it was asked about.",
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  espalier compare model.onnx small.onnx --inputs photos --html compare.html",
            "  espalier compare encoder.onnx small.onnx --task retrieval --questions dev-v1.1.json",
        })
final class CompareCommand implements Callable<Integer> {
    /** Questions are timed on so many threads, if nobody says. */
    private static final int RETRIEVAL_THREADS = 2;

    /** What models are compared by. */
    enum Judge {
        /** By their answers. */
        FIDELITY,
        /** By what their vectors of texts find. */
        RETRIEVAL
    }

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it before call()
    private CommandSpec spec;

    @Parameters(
            arity = "1..2",
            paramLabel = "MODEL",
            description = "Two ONNX files, the original first; --task retrieval also takes a single one.")
    @SuppressWarnings("NullAway.Init")
    private List<Path> models;

    @Option(
            names = "--task",
            paramLabel = "TASK",
            description = "The comparison: ${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).")
    private Judge task = Judge.FIDELITY;

    @Option(
            names = "--inputs",
            paramLabel = "INPUTS",
            description = {
                "Inputs to compare on: " + InputsGuess.TAKES + ". The test split is used. --set gives keys of a kind of"
                        + " data.",
                ComparedInputs.RANDOM
                        + " shows whether the models compute the same, but not how much a difference matters."
            })
    private @Nullable String inputs;

    @Option(
            names = "--set",
            paramLabel = "KEY=VALUE",
            completionCandidates = RecipeKeys.class,
            description = "A key of [data], such as data.dir=DIR, see docs/recipes.md; may be given several times.")
    private List<String> settings = new ArrayList<>();

    @Option(
            names = "--rows",
            paramLabel = "N",
            description = "How many rows to compare, at equal distances (default: all).")
    private int rows;

    @Option(
            names = "--output",
            paramLabel = "NAME=MEANING",
            description =
                    "The meaning of an output, if the printed guess is wrong: logits, probabilities, embedding, tokens, scores or"
                            + " numbers; may be given several times.")
    private Map<String, String> meanings = new LinkedHashMap<>();

    @Option(
            names = "--batch-size",
            paramLabel = "N",
            description = "Samples computed at once (default: ${DEFAULT-VALUE}).")
    private int batchSize = 32;

    @Option(
            names = "--threads",
            paramLabel = "N",
            description =
                    "Threads of ONNX Runtime for the second latency; the first is on one thread (default: one for each processor,"
                            + " and " + RETRIEVAL_THREADS + " for --task retrieval).")
    private @Nullable Integer threads;

    @Option(
            names = "--tokenizer",
            paramLabel = "DIR",
            description =
                    "For texts: a tokenizer.json, a vocab.txt or a folder with one of them (default: next to the first model).")
    private @Nullable Path tokenizer;

    @Option(
            names = "--questions",
            paramLabel = "FILE",
            description = "For --task retrieval: texts and questions in the JSON of SQuAD 1.1, such as dev-v1.1.json.")
    private @Nullable Path questions;

    @Option(
            names = "--sample",
            paramLabel = "N",
            description =
                    "For --task retrieval: how many questions to ask, always the same ones, against all texts (default: all).")
    private int sample;

    @Option(
            names = "--length",
            paramLabel = "N",
            description = "For --task retrieval: tokens that a text is cut to (default: ${DEFAULT-VALUE}).")
    private int length = 256;

    @Option(names = "--json", description = "Print JSON.")
    private boolean json;

    @Option(names = "--html", paramLabel = "FILE", description = "Also write an HTML page.")
    private @Nullable Path html;

    @Override
    public Integer call() throws IOException {
        Check.atLeast("--batch-size", batchSize, 1);
        Check.atLeast("--rows", rows, 0);
        Check.atLeast("--sample", sample, 0);
        for (Path model : models) {
            ModelFile.requireSome(model);
        }
        StatusLine status = new StatusLine(spec.commandLine().getErr());
        ProgressPrinter printer = new ProgressPrinter(status, "");
        PrintWriter out = spec.commandLine().getOut();
        try {
            switch (task) {
                case FIDELITY -> fidelity(printer, status, out);
                case RETRIEVAL -> retrieval(printer, status, out);
            }
        } catch (IllegalStateException refused) {
            // ONNX Runtime does not run a model, or a row cannot be read: the message says which.
            throw new IOException(refused.getMessage(), refused);
        } finally {
            status.clear();
            out.flush();
        }
        return 0;
    }

    private void fidelity(ProgressPrinter printer, StatusLine status, PrintWriter out) throws IOException {
        if (models.size() != 2 || inputs == null) {
            throw new IllegalArgumentException(
                    "two models are compared on inputs: give the original, the smaller model and --inputs INPUTS, such as --inputs "
                            + ComparedInputs.RANDOM);
        }
        if (questions != null || sample > 0) {
            throw new IllegalArgumentException("--questions and --sample are for --task retrieval");
        }
        ModelPair pair = ModelPair.read(models.getFirst(), models.getLast());
        Map<String, OutputMeaning> given = new LinkedHashMap<>();
        meanings.forEach((output, meaning) -> {
            if (!pair.original().outputs().contains(output)) {
                throw new IllegalArgumentException("--output %s: the model has no such output; it has %s"
                        .formatted(output, pair.original().outputs()));
            }
            given.put(output, OutputMeaning.parse(meaning, pair.original(), output));
        });
        Context context = new Context(printer::onReading, Optional.of(tokenizer()));
        int some = threads == null ? Runtime.getRuntime().availableProcessors() : threads;
        Comparison found = pair.compare(
                new ComparedInputs(inputs, settings, rows)
                        .read(pair.original(), models.getFirst(), context, status::say),
                new ModelPair.Plan(batchSize, some, given),
                (what, done, total) -> printer.count("comparing", what, done, total));
        status.clear();
        if (inputs.equals(ComparedInputs.RANDOM)) {
            status.say(ComparedInputs.WORTH);
        }
        if (json) {
            if (!found.warning().isEmpty()) {
                status.say(found.warning());
            }
            out.print(found.toJson());
        } else {
            ComparisonPrinter.print(found, out);
        }
        if (html != null) {
            Report.of(found).write(html);
        }
    }

    private void retrieval(ProgressPrinter printer, StatusLine status, PrintWriter out) throws IOException {
        if (questions == null) {
            throw new IllegalArgumentException(
                    "--task retrieval asks questions: give --questions FILE with texts and questions as SQuAD 1.1 has them");
        }
        if (inputs != null || html != null || rows > 0 || !meanings.isEmpty() || !settings.isEmpty()) {
            throw new IllegalArgumentException(
                    "--inputs, --set, --rows, --output and --html are not for --task retrieval, which reads --questions and prints scores");
        }
        Retrieval all = Retrieval.of(Squad.read(questions));
        Retrieval asked = sample == 0 ? all : all.sample(sample);
        JudgedRetrieval.Plan plan =
                new JudgedRetrieval.Plan(tokenizer(), length, batchSize, threads == null ? RETRIEVAL_THREADS : threads);
        List<JudgedRetrieval> judged = JudgedRetrieval.of(
                models, asked, plan, (what, done, total) -> printer.count("embedding", what, done, total));
        status.clear();
        if (json) {
            out.println(JudgedRetrieval.json(judged, asked, plan).toPrettyString());
        } else {
            JudgedRetrieval.print(judged, asked, plan, out);
        }
    }

    private Path tokenizer() {
        Path first = models.getFirst().toAbsolutePath();
        return tokenizer != null ? tokenizer : Objects.requireNonNullElse(first.getParent(), first);
    }
}
