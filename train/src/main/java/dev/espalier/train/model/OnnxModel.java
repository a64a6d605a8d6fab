package dev.espalier.train.model;

import dev.espalier.data.ModelInput;
import dev.espalier.graph.Graph;
import dev.espalier.graph.model.Weights;
import dev.espalier.graph.onnx.Dequantization;
import dev.espalier.graph.onnx.OnnxReader;
import dev.espalier.graph.onnx.OnnxWriter;
import dev.espalier.graph.prune.PruneOptions;
import dev.espalier.graph.prune.PrunePlan;
import dev.espalier.graph.prune.PruneReport;
import dev.espalier.graph.prune.Pruner;
import dev.espalier.graph.prune.SampleInputs;
import dev.espalier.graph.prune.Widths;
import dev.espalier.graph.prune.Widths.Selections;
import dev.espalier.graph.type.Shape;
import dev.espalier.runtime.Judge;
import dev.espalier.runtime.PruneTrial;
import dev.espalier.runtime.RuntimeTypes;
import dev.espalier.runtime.Timing;
import dev.espalier.settings.Key;
import dev.espalier.settings.Range;
import dev.espalier.settings.Values;
import dev.espalier.train.inputs.DeclaredInputs;
import dev.espalier.train.task.RawInputs;
import dev.espalier.train.task.Signature;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/** {@code model.kind = "onnx"}. */
public final class OnnxModel implements ModelKind {
    private static final Key<String> FILE = Key.location(
                    "model.file",
                    "the ONNX file whose weights training starts from, relative to where the program is started")
            .in(Range.notBlank())
            .changeable();

    private static final Key<Boolean> FRESH = Key.flag(
                    "model.fresh",
                    "whether the file's weights have learned nothing yet: for a regression, the labels' mean and deviation are then"
                            + " put behind its outputs")
            .withDefault(false);

    private static final Key<Boolean> PRUNE_FIRST = Key.flag(
                    "model.prune_first",
                    "whether channels that are zero in the file are cut out before training, which changes no output; what a target"
                            + " asks for is then a share of what is left")
            .withDefault(false);

    /** What becomes of the file's last layer. */
    public enum Head {
        /** It stays as it is. */
        KEEP,
        /** A fresh one, which says what the task wants, takes its place. */
        NEW
    }

    private static final Key<Head> HEAD = Key.choice(
                    "model.head",
                    Head.class,
                    "whether the last layer stays, or gives way to a fresh one with as many outputs as the task has: for other classes")
            .withDefault(Head.KEEP);

    private static final Key<String> TOKENIZER = Key.location(
                    "model.tokenizer",
                    "for texts: a tokenizer.json, a vocab.txt or a folder with one of them, relative to where the program is started;"
                            + " if empty, in the folder of the file or, if that is called onnx, in the one above")
            .withDefault("")
            .changeable();

    /** Files that ONNX Runtime and what was read of them agree on, each by its path, size and time. */
    private static final Set<List<Object>> VERIFIED = ConcurrentHashMap.newKeySet();

    /** Called by the service loader. */
    public OnnxModel() {}

    @Override
    public String name() {
        return "onnx";
    }

    @Override
    public String meaning() {
        return "any model, from an ONNX file";
    }

    @Override
    public List<Key<?>> keys() {
        return List.of(FILE, HEAD, FRESH, TOKENIZER, PRUNE_FIRST);
    }

    /** A model that reads text has its vocabulary beside it, as a training leaves it. */
    @Override
    public Optional<Path> tokenizer(Values values) {
        if (!values.of(TOKENIZER).isEmpty()) {
            return Optional.of(Path.of(values.of(TOKENIZER)));
        }
        return Optional.ofNullable(file(values).toAbsolutePath().getParent());
    }

    @Override
    public List<ModelInput> inputs(Values values) throws IOException {
        return DeclaredInputs.of(DeclaredInputs.inTraining(
                OnnxReader.read(file(values), new RuntimeTypes()).graph()));
    }

    @Override
    public boolean isTrained(Values values) {
        return !values.of(FRESH) && values.of(HEAD) == Head.KEEP;
    }

    @Override
    public boolean isReady(Values values) {
        return values.of(HEAD) == Head.KEEP;
    }

    @Override
    public Graph build(Values values, Signature wanted, Weights weights, Consumer<String> notes) throws IOException {
        Path file = file(values);
        String what = FILE + " = " + file;
        var whole = OnnxReader.read(file, new RuntimeTypes());
        Graph read = whole.graph();
        read.requireKnown();
        Dequantization dequantization = whole.dequantization();
        if (!dequantization.equals(Dequantization.NONE)) {
            notes.accept(what + ": " + dequantization.note());
        }
        if (dequantization.isExact()) {
            requireRead(file, read);
        }
        if (values.of(PRUNE_FIRST)) {
            read = pruned(read, what, notes);
        }
        // What it is fed with is encoded by the data that it is trained on.
        Graph model = DeclaredInputs.inTraining(read);
        Graph free = wanted.withInputs(model, what);
        noteBatch(model, free, what, notes);
        return switch (values.of(HEAD)) {
            case KEEP ->
                wanted.fit(free, what, "set model.head = \"new\" for a fresh last layer that says that")
                        .model();
            case NEW -> {
                NewHead head = NewHead.of(free, what, wanted, weights);
                notes.accept(head.note());
                yield wanted.fit(head.graph(), what).model();
            }
        };
    }

    /** Nobody picks channels from a tensor for that: what others need stays, so that later cuts are as free as in the original. */
    private static Graph pruned(Graph read, String what, Consumer<String> notes) {
        PrunePlan plan = Pruner.plan(
                RawInputs.without(read),
                PruneOptions.DEFAULT.withWidths(Widths.NARROWEST.withSelections(Selections.NONE)));
        if (!plan.changes()) {
            return read;
        }
        SampleInputs samples = SampleInputs.DEFAULT;
        try (Judge judge = Judge.of(read, samples, 1)) {
            PruneTrial trial = PruneTrial.of(
                    RawInputs.judge(judge, read, samples.batch()),
                    read,
                    plan,
                    smaller -> RawInputs.like(read, smaller),
                    samples.dimensions(read),
                    Timing.size(0));
            PruneReport report = trial.report();
            notes.accept(String.format(
                    Locale.ROOT,
                    "%s has channels that are zero already; they are cut out first, which leaves %.1f %% of its parameters and %.1f %% of its FLOPs. What is requested is a share of that.",
                    what,
                    100 * report.parametersLeft(),
                    100.0 * report.flopsAfter() / Math.max(report.flopsBefore(), 1)));
            return trial.smaller();
        }
    }

    private static void noteBatch(Graph model, Graph free, String what, Consumer<String> notes) {
        for (int i = 0; i < model.inputs().size(); i++) {
            Shape declared = model.inputs().get(i).type().shape();
            Shape taken = free.inputs().get(i).type().shape();
            if (declared.rank() > 0
                    && declared.get(0).isKnown()
                    && !taken.get(0).isKnown()) {
                notes.accept("%s: the batch axis of its input %s, fixed to %s, is free now: %s"
                        .formatted(what, model.inputs().get(i).name(), declared.get(0), taken));
            }
        }
    }

    /** Hours of training are lost on a model that is not the file's. A run builds it several times, and verifies it once. */
    private static void requireRead(Path file, Graph model) throws IOException {
        List<Object> state = List.of(file.toRealPath(), Files.size(file), Files.getLastModifiedTime(file));
        if (VERIFIED.contains(state)) {
            return;
        }
        try (Judge judge = Judge.of(file, model, SampleInputs.DEFAULT, 1)) {
            RawInputs.judge(judge, model, SampleInputs.DEFAULT.batch()).requireRead(model, OnnxWriter.Options.DEFAULT);
        } catch (IllegalStateException refused) {
            throw new IllegalArgumentException(
                    FILE + " = " + file + " cannot be judged, neither now nor once it is trained: "
                            + refused.getMessage(),
                    refused);
        }
        VERIFIED.add(state);
    }

    private static Path file(Values values) {
        return Path.of(values.of(FILE));
    }
}
