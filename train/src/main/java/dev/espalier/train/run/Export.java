package dev.espalier.train.run;

import dev.espalier.engine.Network;
import dev.espalier.graph.Graph;
import dev.espalier.graph.GraphException;
import dev.espalier.graph.onnx.OnnxWriter;
import dev.espalier.graph.prune.PruneOptions;
import dev.espalier.graph.prune.PrunePlan;
import dev.espalier.graph.prune.PruneReport;
import dev.espalier.graph.prune.Pruner;
import dev.espalier.graph.prune.SampleInputs;
import dev.espalier.runtime.FlushedModel;
import dev.espalier.runtime.Judge;
import dev.espalier.runtime.Latency;
import dev.espalier.runtime.OnnxRuntimeModel;
import dev.espalier.runtime.PruneTrial;
import dev.espalier.runtime.PruneTrial.Requested;
import dev.espalier.runtime.Timing;
import dev.espalier.runtime.Timing.Goal;
import dev.espalier.train.journal.Faster;
import dev.espalier.train.journal.Findings;
import dev.espalier.train.journal.JsonFile;
import dev.espalier.train.journal.ModelCard;
import dev.espalier.train.journal.RunFolder;
import dev.espalier.train.journal.RunResult;
import dev.espalier.train.recipe.TargetRecipe;
import dev.espalier.train.task.CardNote;
import dev.espalier.train.task.Evaluation;
import dev.espalier.train.task.RawInputs;
import dev.espalier.train.task.Task;
import java.io.IOException;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;

/**
 * What is made of a trained model: two ONNX files, and the judgement of ONNX Runtime on them.
 *
 * @param task by what they are judged
 * @param folder where they go
 * @param goal what the second is pruned for
 * @param target how much shall be left: where that was said, what is faster and wider is a third file
 * @param judged samples of the test part that ONNX Runtime is asked about; 0 for all
 * @param options where the others are computed, and who is told
 */
record Export(Task task, RunFolder folder, Goal goal, Optional<TargetRecipe> target, int judged, RunOptions options) {
    /** Latency is that of one sample on one thread. */
    private static final int ONE_THREAD = 1;

    /** Operations are counted for one sample. */
    private static final SampleInputs DIMENSIONS = new SampleInputs(1, SampleInputs.DEFAULT.length(), 1);

    private static final int THREADS = Runtime.getRuntime().availableProcessors();

    /** Turns of each model on all threads, */
    private static final int ROUNDS = 51;

    /** as long as there is time. What is chosen by latency is chosen on one thread, and this is only told. */
    private static final double SECONDS = 5;

    /** The part of the time that is left in which widths may be compared, */
    private static final double SEARCH = 0.4;

    /** and later models on all threads. */
    private static final double THREADED = 0.2;

    RunResult deliver(Session session, long seed, double seconds) throws IOException {
        Graph trained = RawInputs.of(task, session.graph());
        // Of an export that was killed.
        OnnxWriter.removeRemains(folder.model());
        OnnxWriter.removeRemains(folder.pruned());
        OnnxWriter.removeRemains(folder.fasterModel());
        OnnxWriter.write(trained, folder.model());
        Graph model = flushed(trained);
        Requested pruned = pruneOrTell(model);
        PruneTrial trial = pruned.smallest();
        OnnxWriter.write(trial.smaller(), folder.pruned());
        if (pruned.faster().isPresent()) {
            write(pruned.faster().get(), trial);
        }
        Optional<ModelCard> card = CardNote.of(model);
        if (card.isPresent()) {
            JsonFile.write(folder.card(), card.get());
        }
        task.accompany(folder.path());
        RunResult measured = judge(session, seed, seconds, model, trial);
        RunResult result = target.map(wanted -> measured.withSize(
                        RequestedSize.of(wanted, List.of(measured)).written()))
                .orElse(measured);
        folder.write(result);
        return result;
    }

    /** Training leaves weights that are all but zero, and slow every run down: the file is written again without them. */
    private Graph flushed(Graph trained) throws IOException {
        if (FlushedModel.count(trained) == 0) {
            return trained;
        }
        FlushedModel flushed;
        try (Judge judge = judge(trained)) {
            flushed = FlushedModel.of(trained, judge);
        } catch (IllegalStateException | GraphException refused) {
            return trained; // whatever is wrong with it, pruning finds it too and says so
        }
        if (flushed.words().isPresent()) {
            OnnxWriter.write(flushed.graph(), folder.model());
            options.listener().onNote(flushed.words().get());
        }
        return flushed.graph();
    }

    /** Closing it closes all that is made of it. */
    private Judge judge(Graph model) {
        Judge judge = Judge.of(folder.model(), model, DIMENSIONS, ONE_THREAD);
        return RawInputs.judge(judge, model, DIMENSIONS.batch()).with(task.sample(), "a sample of the test part");
    }

    /** Hours of training are not lost if their model cannot be pruned, and who trained should know. */
    private Requested pruneOrTell(Graph model) {
        try {
            return prune(model);
        } catch (DivergedException nothing) {
            throw nothing;
        } catch (RuntimeException failure) {
            options.listener().onNote("What was trained is in %s, uncut".formatted(folder.model()));
            throw failure;
        }
    }

    /** The file that is delivered as trained is the original: of what was trained from, only the architecture is left. */
    private Requested prune(Graph model) {
        PrunePlan plan = plan(RawInputs.without(model));
        try (Judge judge = judge(model)) {
            UnaryOperator<Graph> whole = smaller -> RawInputs.like(model, smaller);
            Map<String, Long> dimensions = DIMENSIONS.dimensions(model);
            Timing timing = new Timing(goal, options.limit().atMost(Timing.SECONDS, SEARCH), _ -> {});
            return target.isPresent()
                    ? PruneTrial.requested(judge, model, plan, whole, dimensions, timing)
                    : new Requested(PruneTrial.of(judge, model, plan, whole, dimensions, timing), Optional.empty());
        }
    }

    /** Who requested a size gets it; that another one is faster is told, and written too. */
    private void write(PruneTrial faster, PruneTrial smallest) throws IOException {
        PruneReport wide = faster.report();
        PruneReport narrow = smallest.report();
        Faster found = new Faster(
                wide.parametersAfter(),
                wide.flopsAfter(),
                wide.latencyMillisecondsAfter().orElseThrow(),
                narrow.latencyMillisecondsAfter().orElseThrow());
        OnnxWriter.write(faster.smaller(), folder.fasterModel());
        JsonFile.write(folder.fasterFile(), found);
        options.listener()
                .onNote(String.format(
                        Locale.ROOT,
                        "A wider model is faster: %s has %,d parameters and %,d FLOPs and takes %.3g ms; %s, as requested, has %,d and %,d and takes %.3g ms",
                        folder.fasterModel().getFileName(),
                        found.parameters(),
                        found.flops(),
                        found.milliseconds(),
                        folder.pruned().getFileName(),
                        narrow.parametersAfter(),
                        narrow.flopsAfter(),
                        found.smallerMilliseconds()));
    }

    private static PrunePlan plan(Graph model) {
        try {
            return Pruner.plan(model, PruneOptions.DEFAULT);
        } catch (GraphException dead) {
            throw new DivergedException("nothing is left of the model: " + dead.getMessage());
        }
    }

    /** Looks at the files, not at what they were made from. */
    private RunResult judge(Session session, long seed, double seconds, Graph graph, PruneTrial trial)
            throws IOException {
        PruneReport report = trial.report();
        try (OnnxRuntimeModel model = new OnnxRuntimeModel(folder.model(), THREADS);
                OnnxRuntimeModel pruned = new OnnxRuntimeModel(folder.pruned(), THREADS);
                Testimony whole = testimony(model, graph);
                Testimony left = testimony(pruned, trial.smaller())) {
            Evaluation before = evaluate(graph, whole);
            Evaluation after = evaluate(trial.smaller(), left.heldAgainst(whole));
            Optional<Findings> findings = inspect(trial.smaller(), left);
            if (findings.isPresent()) {
                folder.write(findings.get());
            }
            return new RunResult(
                    seed,
                    session.steps(),
                    seconds,
                    session.lambda(),
                    before.loss(),
                    before.scores(),
                    after.scores(),
                    session.groups().groupsLeft(session.graph()),
                    report.groupsLeft(),
                    report.parametersBefore(),
                    report.parametersAfter(),
                    report.flopsBefore(),
                    report.flopsAfter(),
                    left.difference(),
                    report.latencyMillisecondsBefore().orElseThrow(),
                    report.latencyMillisecondsAfter().orElseThrow(),
                    files(model, pruned, Math.max(whole.judged(), left.judged())));
        }
    }

    private Testimony testimony(OnnxRuntimeModel file, Graph graph) {
        return new Testimony(file::run, judged, () -> new Network(graph, options.device()), options.listener()::onNote);
    }

    private Evaluation evaluate(Graph graph, Testimony testimony) {
        try (JudgedModel model = new JudgedModel(task, graph, testimony)) {
            return task.evaluate(model, Task.Part.TEST);
        }
    }

    private RunResult.Files files(OnnxRuntimeModel model, OnnxRuntimeModel pruned, long asked) throws IOException {
        List<Double> threaded = Latency.measure(
                List.of(model, pruned), task.sample(), ROUNDS, options.limit().atMost(SECONDS, THREADED));
        return new RunResult.Files(
                ModelPair.bytes(folder.model()),
                ModelPair.bytes(folder.pruned()),
                THREADS,
                threaded.getFirst(),
                threaded.getLast(),
                asked);
    }

    private Optional<Findings> inspect(Graph graph, Testimony testimony) {
        try (JudgedModel left = new JudgedModel(task, graph, testimony::again)) {
            return task.findings(left);
        }
    }
}
