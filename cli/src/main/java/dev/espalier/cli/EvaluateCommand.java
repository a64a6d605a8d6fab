package dev.espalier.cli;

import dev.espalier.data.Augmentation;
import dev.espalier.data.Companion;
import dev.espalier.data.DataSection;
import dev.espalier.data.Dataset;
import dev.espalier.data.LoadedData;
import dev.espalier.runtime.OnnxRuntimeModel;
import dev.espalier.settings.Form;
import dev.espalier.settings.Values;
import dev.espalier.train.journal.ModelCard;
import dev.espalier.train.journal.RunFolder;
import dev.espalier.train.recipe.Recipe;
import dev.espalier.train.run.JudgedModel;
import dev.espalier.train.task.Batching;
import dev.espalier.train.task.Evaluation;
import dev.espalier.train.task.Materials;
import dev.espalier.train.task.RawInputs;
import dev.espalier.train.task.Task;
import dev.espalier.train.task.TaskSection;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code espalier evaluate}: how well a trained model does on rows whose labels are known. */
@Command(
        name = "evaluate",
        description = {
            "Prints how well a trained model does on data that it has not seen: accuracy, or whatever its task is judged by.",
            "ONNX Runtime runs the model. Its task is that of the recipe.toml beside it, or else what it says suggests.",
        })
final class EvaluateCommand implements Callable<Integer> {
    private static final int BATCH = 256;

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it before call()
    private CommandSpec spec;

    @Parameters(
            index = "1",
            paramLabel = "FILE",
            description = {
                InputOptions.TABLES + " It has the labels too.",
                "Or a folder with a folder of images for each class, for a model of images."
            })
    @SuppressWarnings("NullAway.Init")
    private Path file;

    @Mixin
    private InputOptions input = new InputOptions();

    @Override
    public Integer call() throws IOException {
        ServedModel served = input.model();
        StatusLine status = new StatusLine(spec.commandLine().getErr());
        Dataset rows = served.labelled(file, input, new ProgressPrinter(status, ""));
        status.clear();
        Task task = task(served, rows);
        PrintWriter out = spec.commandLine().getOut();
        try (OnnxRuntimeModel runtime =
                        new OnnxRuntimeModel(served.file(), Runtime.getRuntime().availableProcessors());
                JudgedModel judged = new JudgedModel(task, served.graph(), runtime::run)) {
            Evaluation found = task.evaluate(judged, Task.Part.TEST);
            found.scores().forEach((metric, value) -> out.println(metric.words() + " " + metric.write(value)));
            out.printf(Locale.ROOT, "%,d rows of %s, %s%n", found.samples(), file, served.file());
        }
        out.flush();
        return 0;
    }

    private static Task task(ServedModel served, Dataset rows) throws IOException {
        LoadedData data =
                new LoadedData(rows, rows, rows, served.encoding(), Augmentation.NONE, List.of(), Companion.NONE);
        Path folder = Objects.requireNonNullElse(served.file().toAbsolutePath().getParent(), served.file());
        Path beside = new RunFolder(folder).recipe();
        Values values = Files.exists(beside) ? Recipe.read(beside, List.of()).task() : suggested(served.card());
        Values source = DataSection.read("data.kind=csv", "data.path=" + rows.name());
        return TaskSection.open(
                values,
                new Materials(
                        source, data, (_, _) -> RawInputs.without(served.graph()), new Batching(BATCH, BATCH, 1)));
    }

    private static Values suggested(ModelCard card) {
        List<String> settings = switch (card.outputs().getFirst().kind()) {
            case "classes" -> List.of("task.kind=classification");
            case "labels" -> List.of("task.kind=classification", "task.multi_label=true");
            default -> List.of("task.kind=regression");
        };
        return new Form("section", List.of(TaskSection.SECTION), List.of())
                .parse("[task]", "", settings)
                .section(TaskSection.SECTION);
    }
}
