package dev.espalier.cli;

import dev.espalier.data.Augmentation;
import dev.espalier.data.Companion;
import dev.espalier.data.Context;
import dev.espalier.data.DataSection;
import dev.espalier.data.Dataset;
import dev.espalier.data.Encoding;
import dev.espalier.data.Field;
import dev.espalier.data.LabelType;
import dev.espalier.data.LoadedData;
import dev.espalier.runtime.ThreadTunedModel;
import dev.espalier.settings.Form;
import dev.espalier.settings.Values;
import dev.espalier.train.journal.ModelCard;
import dev.espalier.train.journal.RunFolder;
import dev.espalier.train.recipe.Recipe;
import dev.espalier.train.run.JudgedModel;
import dev.espalier.train.task.Batching;
import dev.espalier.train.task.Evaluation;
import dev.espalier.train.task.Materials;
import dev.espalier.train.task.ModelSource;
import dev.espalier.train.task.RawInputs;
import dev.espalier.train.task.Task;
import dev.espalier.train.task.TaskSection;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code espalier evaluate}: how well a trained model does on rows whose labels are known. */
@Command(
        name = "evaluate",
        description = {
            "Measure a trained model on labeled data.",
            "Prints accuracy, or the metric of the model's task: that of the recipe.toml next to it, or else a guess from its outputs. ONNX Runtime runs the model.",
        })
final class EvaluateCommand implements Callable<Integer> {
    private static final Batching BATCHES = new Batching(256, 256, 1);

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it before call()
    private CommandSpec spec;

    @Parameters(
            index = "1",
            arity = "0..1",
            paramLabel = "FILE",
            description = {
                InputOptions.TABLES + " It has the labels too.",
                "Or a folder with a folder of images for each class, for a model of images.",
                "Default: the test split of the data that the recipe.toml next to the model names, or --set."
            })
    private @Nullable Path file;

    @Option(
            names = "--set",
            paramLabel = "KEY=VALUE",
            completionCandidates = RecipeKeys.class,
            description =
                    "In place of FILE: a key of [data], such as data.kind=cifar10 or data.dir=DIR, see docs/recipes.md; may be given"
                            + " several times.")
    private List<String> settings = new ArrayList<>();

    @Mixin
    private InputOptions input = new InputOptions();

    @Override
    public Integer call() throws IOException {
        ServedModel served = input.model();
        Path folder = Objects.requireNonNullElse(served.file().toAbsolutePath().getParent(), served.file());
        Path beside = new RunFolder(folder).recipe();
        Optional<Recipe> recipe = Files.exists(beside) ? Optional.of(Recipe.read(beside, settings)) : Optional.empty();
        StatusLine status = new StatusLine(spec.commandLine().getErr());
        Values source = source(served, recipe);
        LoadedData data = data(served, source, new ProgressPrinter(status, ""));
        status.clear();
        Task task = TaskSection.open(
                recipe.map(Recipe::task).orElseGet(() -> suggested(served.card())),
                new Materials(source, data, model(served), BATCHES));
        PrintWriter out = spec.commandLine().getOut();
        try (ThreadTunedModel runtime = input.runtime(served.file(), line -> {
                    status.clear();
                    spec.commandLine().getErr().println(line);
                });
                JudgedModel judged = new JudgedModel(task, served.graph(), runtime::run)) {
            Evaluation found = task.evaluate(judged, Task.Part.TEST);
            found.scores().forEach((metric, value) -> out.println(metric.words() + " " + metric.write(value)));
            String name = file == null ? data.test().name() : file.toString();
            out.printf(Locale.ROOT, "%,d rows of %s, %s%n", found.samples(), name, served.file());
        }
        out.flush();
        return 0;
    }

    /** What says which data it is. */
    private Values source(ServedModel served, Optional<Recipe> recipe) {
        if (file != null) {
            if (!settings.isEmpty()) {
                throw new IllegalArgumentException(
                        "%s and --set %s both say which data: give one of them".formatted(file, settings.getFirst()));
            }
            return DataSection.read("data.kind=csv", "data.path=" + file);
        }
        if (recipe.isEmpty() && settings.isEmpty()) {
            throw new IllegalArgumentException(
                    "no recipe.toml beside %s says which data it is for: give a FILE, or --set data.kind=KIND and the keys of that kind"
                            .formatted(served.file()));
        }
        return recipe.map(Recipe::data).orElseGet(() -> DataSection.read(settings.toArray(String[]::new)));
    }

    /** The data as the model was trained to be given it. */
    private LoadedData data(ServedModel served, Values source, ProgressPrinter printer) throws IOException {
        Encoding encoding = served.encoding();
        if (file != null) {
            Dataset rows = served.labelled(file, input, printer);
            return new LoadedData(rows, rows, rows, encoding, Augmentation.NONE, List.of(), Companion.NONE);
        }
        boolean classes = encoding.targetFields().stream().allMatch(Field.Category.class::isInstance);
        Context context = new Context(printer::onReading, Optional.of(input.tokenizer(served.file())));
        return new Materials(source, context, model(served), BATCHES)
                .data(classes ? LabelType.CATEGORY : LabelType.NUMBER)
                .withEncoding(encoding);
    }

    private static ModelSource model(ServedModel served) {
        return (_, _) -> RawInputs.without(served.graph());
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
