package dev.espalier.train;

import dev.espalier.core.penalty.Penalty;
import dev.espalier.core.rule.UpdateRule;
import dev.espalier.core.schedule.LearningRate;
import dev.espalier.core.step.Optimizer;
import dev.espalier.core.step.StepOptions;
import dev.espalier.data.Context;
import dev.espalier.data.DataSection;
import dev.espalier.data.LoadedData;
import dev.espalier.engine.Device;
import dev.espalier.engine.Network;
import dev.espalier.engine.TrainingStep;
import dev.espalier.graph.Graph;
import dev.espalier.graph.group.GroupRules;
import dev.espalier.graph.group.ModelGroups;
import dev.espalier.graph.group.TrainingPlan;
import dev.espalier.graph.objective.Objective;
import dev.espalier.graph.objective.Terms;
import dev.espalier.graph.onnx.OnnxReader;
import dev.espalier.graph.onnx.OnnxWriter;
import dev.espalier.graph.prune.PruneOptions;
import dev.espalier.graph.prune.PruneReport;
import dev.espalier.graph.prune.Pruner;
import dev.espalier.graph.prune.SampleInputs;
import dev.espalier.runtime.FlushedModel;
import dev.espalier.runtime.Judge;
import dev.espalier.runtime.PruneTrial;
import dev.espalier.runtime.RuntimeTypes;
import dev.espalier.runtime.Timing;
import dev.espalier.train.inputs.DeclaredInputs;
import dev.espalier.train.journal.RunFolder;
import dev.espalier.train.journal.RunResult;
import dev.espalier.train.recipe.Recipe;
import dev.espalier.train.run.RunOptions;
import dev.espalier.train.run.Tasks;
import dev.espalier.train.study.Experiment;
import dev.espalier.train.task.Example;
import dev.espalier.train.task.RawInputs;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The front door: a model, and how it is made smaller. Open one, choose its groups, train it with a loss of your own or with a
 * task that a recipe names, cut out what became zero, write what is left.
 *
 * {@snippet :
 * Espalier sparse = Espalier.open(Path.of("model.onnx"))
 *         .withPenalty(new GroupLasso(0.01))
 *         .withRate(LearningRate.constant(1e-3))
 *         .train(objective, batches, terms -> System.out.println(terms.loss()));
 * sparse.prune().write(Path.of("smaller.onnx"));
 * }
 *
 * <p>It is immutable: training and pruning give another one. What it is made of is there for whoever needs more: {@link Graph},
 * {@link Network}, {@link Optimizer}, {@link Pruner}.
 */
public final class Espalier {
    private final Graph model;
    private final Optional<Path> home;
    private final GroupRules rules;
    private final @Nullable Penalty penalty;
    private final UpdateRule rule;
    private final LearningRate rate;
    private final Device device;
    private final Optional<PruneReport> pruned;

    private Espalier(
            Graph model,
            Optional<Path> home,
            GroupRules rules,
            @Nullable Penalty penalty,
            UpdateRule rule,
            LearningRate rate,
            Device device,
            Optional<PruneReport> pruned) {
        this.model = model;
        this.home = home;
        this.rules = rules;
        this.penalty = penalty;
        this.rule = rule;
        this.rate = rate;
        this.device = device;
        this.pruned = pruned;
    }

    /**
     * Reads a model.
     *
     * @param file an ONNX file
     * @return the model, with groups for every layer, no penalty, Adam at a rate of 0.001, on the CPU
     * @throws IOException if the file cannot be read, or is no model that we know; the message says why
     */
    public static Espalier open(Path file) throws IOException {
        Path folder = file.toAbsolutePath().getParent();
        return of(OnnxReader.read(file, new RuntimeTypes()).graph(), Optional.ofNullable(folder));
    }

    /**
     * Takes a model that a program has built.
     *
     * @param model the model
     * @return the model, with groups for every layer, no penalty, Adam at a rate of 0.001, on the CPU
     */
    public static Espalier of(Graph model) {
        return of(model, Optional.empty());
    }

    private static Espalier of(Graph model, Optional<Path> home) {
        return new Espalier(
                model,
                home,
                GroupRules.everything(),
                null,
                new UpdateRule.Adam(),
                LearningRate.constant(1e-3),
                Device.CPU,
                Optional.empty());
    }

    /**
     * Chooses which weights belong together.
     *
     * @param other which layers, and how; {@link GroupRules#everything} by default
     * @return the same model with these groups
     */
    public Espalier withGroups(GroupRules other) {
        return new Espalier(model, home, other, penalty, rule, rate, device, pruned);
    }

    /**
     * Chooses what drives groups to zero.
     *
     * @param other the penalty; none by default
     * @return the same model with this penalty
     */
    public Espalier withPenalty(Penalty other) {
        return new Espalier(model, home, rules, other, rule, rate, device, pruned);
    }

    /**
     * Chooses the optimizer.
     *
     * @param other how a gradient becomes a step; Adam by default
     * @return the same model with this optimizer
     */
    public Espalier withOptimizer(UpdateRule other) {
        return new Espalier(model, home, rules, penalty, other, rate, device, pruned);
    }

    /**
     * Chooses how large steps are.
     *
     * @param other the learning rate; 0.001 by default
     * @return the same model with this rate
     */
    public Espalier withRate(LearningRate other) {
        return new Espalier(model, home, rules, penalty, rule, other, device, pruned);
    }

    /**
     * Chooses where training is computed.
     *
     * @param other the device; the CPU by default
     * @return the same model there
     */
    public Espalier withDevice(Device other) {
        return new Espalier(model, home, rules, penalty, rule, rate, other, pruned);
    }

    private Espalier withModel(Graph other, Optional<PruneReport> report) {
        return new Espalier(other, home, rules, penalty, rule, rate, device, report);
    }

    /** {@return the model as it is} */
    public Graph model() {
        return model;
    }

    /** {@return which weights belong together; their zeros are asked for with the model} */
    public ModelGroups groups() {
        return rules.derive(model);
    }

    /** {@return how many groups are exactly zero} */
    public long zeroGroups() {
        return groups().layers().stream()
                .mapToLong(layer -> layer.zeroGroups(model))
                .sum();
    }

    /**
     * Trains with a loss of one's own, one step for every batch.
     *
     * @param objective what is made small, written down as nodes behind the model
     * @param batches what is learned from, in order
     * @param progress sees the loss and the objective's other terms after every step
     * @return the trained model
     */
    public Espalier train(Objective objective, Iterable<Example> batches, Consumer<Terms> progress) {
        TrainingPlan plan = penalty == null ? TrainingPlan.dense(rate) : TrainingPlan.of(penalty, rate);
        try (Network network = new Network(model, objective, device);
                Optimizer optimizer = new Optimizer(
                        rule, plan.parameterSets(model, groups()), StepOptions.DEFAULT, device.kernels())) {
            TrainingStep step = new TrainingStep(network, optimizer::step);
            for (Example batch : batches) {
                progress.accept(step.run(batch.inputs(), batch.targets()));
            }
            return withModel(rules.note(network.graph()), Optional.empty());
        }
    }

    /**
     * Trains as a recipe says: its data, its task, its penalty, optimizer and phases; the model is this one, whatever its section
     * {@code [model]} says. All is written to a folder, {@code model.onnx} and {@code pruned.onnx} with it.
     *
     * @param recipe how to train
     * @param folder where everything is written; it must be empty, or not there yet
     * @param options who listens, and where it is computed
     * @return what came out, seed by seed
     * @throws IOException if the data cannot be read, or something cannot be written
     */
    public List<RunResult> train(Recipe recipe, Path folder, RunOptions options) throws IOException {
        LoadedData data = DataSection.load(
                recipe.data(),
                new Context(Context.QUIET.progress(), home, () -> DeclaredInputs.of(DeclaredInputs.inTraining(model))));
        return new Experiment(
                        recipe, Tasks.of(recipe, data, _ -> RawInputs.without(model)), new RunFolder(folder), options)
                .begin()
                .orElseThrow(() -> new IOException(
                        "the training was stopped by its options; what was done so far is in " + folder));
    }

    /**
     * Cuts out what is zero, and has ONNX Runtime compare what is left with this model. Weights that are all but zero, subnormal floats
     * among them, count as zero if ONNX Runtime's outputs stay the same: processors are slow at them.
     *
     * @return a smaller dense model that computes the same, with a {@link #report}
     * @throws dev.espalier.graph.GraphException if it does not compute the same
     */
    public Espalier prune() {
        SampleInputs samples = SampleInputs.DEFAULT;
        try (Judge judge = RawInputs.judge(Judge.of(model, samples, 1), model, samples.batch())) {
            Graph flushed = FlushedModel.of(model, judge).graph();
            PruneTrial trial = PruneTrial.of(
                    judge,
                    flushed,
                    Pruner.plan(RawInputs.without(flushed), PruneOptions.DEFAULT),
                    smaller -> RawInputs.like(model, smaller),
                    samples.dimensions(model),
                    Timing.DEFAULT);
            return withModel(trial.smaller(), Optional.of(trial.report()));
        }
    }

    /**
     * What pruning did: parameters, operations and latency before and after, layer by layer.
     *
     * @return the report
     * @throws IllegalStateException if this is not what {@link #prune} gave
     */
    public PruneReport report() {
        return pruned.orElseThrow(() -> new IllegalStateException("this model was not pruned: call prune first"));
    }

    /**
     * Writes the model.
     *
     * @param file an ONNX file; what is there is replaced
     * @throws IOException if it cannot be written
     */
    public void write(Path file) throws IOException {
        OnnxWriter.write(model, file);
    }
}
