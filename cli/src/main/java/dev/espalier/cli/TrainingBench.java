package dev.espalier.cli;

import dev.espalier.bench.ModelShapes;
import dev.espalier.core.kernel.StepKernel;
import dev.espalier.core.penalty.GroupLasso;
import dev.espalier.core.rule.UpdateRule;
import dev.espalier.core.schedule.LearningRate;
import dev.espalier.core.step.Optimizer;
import dev.espalier.core.step.ParameterSet;
import dev.espalier.core.step.StepCompanion;
import dev.espalier.core.step.StepOptions;
import dev.espalier.cuda.CudaSteps;
import dev.espalier.engine.Device;
import dev.espalier.engine.Network;
import dev.espalier.engine.Precision;
import dev.espalier.engine.TrainingStep;
import dev.espalier.graph.Graph;
import dev.espalier.graph.Value;
import dev.espalier.graph.group.PaperRules;
import dev.espalier.graph.group.TrainingPlan;
import dev.espalier.graph.model.Bert;
import dev.espalier.graph.model.BertConfig;
import dev.espalier.graph.model.ImageOptions;
import dev.espalier.graph.model.ResNet34;
import dev.espalier.graph.model.Vgg16;
import dev.espalier.graph.model.Weights;
import dev.espalier.graph.objective.Losses;
import dev.espalier.graph.objective.Objective;
import dev.espalier.graph.objective.Terms;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.SequencedMap;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Whole steps of training on random samples: gradients, clipping, the step with a penalty, and what the host does in between.
 *
 * @param millisecondsOfStep the median, and the least
 * @param least the least
 * @param loss of the last step
 * @param model as the steps left it
 * @param parts what the host did in the meantime
 */
record TrainingBench(double millisecondsOfStep, double least, double loss, Graph model, TrainingParts parts) {
    private static final long SEED = 7;
    private static final double RATE = 1e-4;
    private static final double LAMBDA = 1e-6;
    private static final double CLIP_NORM = 1;

    /** More than it takes until what a network does to itself is recorded. */
    private static final int UNTIL_RECORDED = 25;

    private static final String STEP = "a step";

    /** Batches of samples that take turns. */
    private static final int BATCHES = 4;

    /**
     * What is trained.
     *
     * @param graph the model
     * @param rules its groups
     * @param objective what it is trained for
     * @param samples in a batch
     * @param draw makes inputs and targets
     */
    private record Work(Graph graph, PaperRules rules, Objective objective, int samples, Supplier<Batch> draw) {}

    private record Batch(Map<String, Tensor> inputs, Map<String, Tensor> targets) {}

    /**
     * Measures.
     *
     * @param model {@code VGG16}, {@code RESNET34} or {@code BERT_BASE}
     * @param batch samples in a batch; 0 for those of the paper's recipes
     * @param device where
     * @param precision how exactly
     * @param recorded whether passes may be recorded
     * @param steps how many are measured, after as many as it takes to get going
     * @param progress is told what goes on
     */
    static TrainingBench of(
            ModelShapes model,
            int batch,
            Device device,
            Precision precision,
            boolean recorded,
            int steps,
            Consumer<String> progress) {
        try (Trained trained = Trained.of(work(model, batch), device, device.kernels(), precision, recorded)) {
            TrainingParts parts = new TrainingParts();
            double loss = Double.NaN;
            int before = before(device, steps);
            for (int i = -before; i < steps; i++) {
                progress.accept("step %d of %d".formatted(i + before + 1, before + steps));
                loss = trained.step(i, i < 0 ? new TrainingParts() : parts);
            }
            return new TrainingBench(parts.median(STEP), parts.least(STEP), loss, trained.network.graph(), parts);
        }
    }

    /** Steps before the first one that is measured: by then all that is recorded has been. */
    private static int before(Device device, int steps) {
        return Math.max(device.isGpu() ? UNTIL_RECORDED : 5, steps / 5);
    }

    /**
     * Measures the parts of a step one by one. Each is waited for, so they take longer together than a step does.
     *
     * @param model {@code VGG16}, {@code RESNET34} or {@code BERT_BASE}
     * @param batch samples in a batch; 0 for those of the paper's recipes
     * @param device where
     * @param precision how exactly
     * @param steps how many are measured, after as many as it takes to get going
     * @param progress is told what goes on
     */
    static TrainingParts parts(
            ModelShapes model, int batch, Device device, Precision precision, int steps, Consumer<String> progress) {
        TrainingParts[] told = {new TrainingParts()};
        StepKernel.Factory kernels = device.kernels() instanceof CudaSteps steppers
                ? steppers.withClock(milliseconds -> told[0].add("step, on the GPU alone", milliseconds))
                : device.kernels();
        try (Trained trained = Trained.of(work(model, batch), device, kernels, precision, true)) {
            int before = before(device, steps);
            for (int i = -before; i < steps; i++) {
                progress.accept("part by part, step %d of %d".formatted(i + before + 1, before + steps));
                if (i == 0) {
                    told[0] = new TrainingParts();
                }
                trained.stepByParts(i, told[0]);
            }
            return told[0];
        }
    }

    /** A network and what steps it, and the pass that the next step begins with, if that was queued. */
    private static final class Trained implements AutoCloseable {
        private final Network network;
        private final Optimizer optimizer;
        private final TrainingStep training;
        private final List<Batch> batches;
        private @Nullable Supplier<Terms> ahead;

        /** When a step was queued, and when something else was done then, in the last one. */
        private final long[] times = new long[2];

        private Trained(Network network, Optimizer optimizer, List<Batch> batches) {
            this.network = network;
            this.optimizer = optimizer;
            this.batches = batches;
            training = new TrainingStep(network, (weights, gradients, companion) -> {
                network.clipGradients(CLIP_NORM);
                optimizer.step(weights, gradients, new Timed(companion));
            });
        }

        /** Looks at the clock before and after. */
        private final class Timed implements StepCompanion {
            private final StepCompanion inner;

            private Timed(StepCompanion inner) {
                this.inner = inner;
            }

            @Override
            public void underWay(boolean settled) {
                times[0] = System.nanoTime();
                inner.underWay(settled);
                times[1] = System.nanoTime();
            }

            @Override
            public void corrected() {
                inner.corrected();
            }
        }

        static Trained of(Work work, Device device, StepKernel.Factory kernels, Precision precision, boolean recorded) {
            TrainingPlan plan = TrainingPlan.of(new GroupLasso(LAMBDA), LearningRate.constant(RATE))
                    .withFrozen(work.rules().frozen());
            List<ParameterSet> sets =
                    plan.parameterSets(work.graph(), work.rules().derive(work.graph()));
            Network network = new Network(work.graph(), work.objective(), device)
                    .precision(precision)
                    .seed(SEED)
                    .freeze(ParameterSet.frozenNames(sets)::contains)
                    .record(recorded);
            Optimizer optimizer = new Optimizer(new UpdateRule.Adam(), sets, StepOptions.DEFAULT, kernels);
            List<Batch> batches = Stream.generate(work.draw()).limit(BATCHES).toList();
            return new Trained(network, optimizer, batches);
        }

        private Batch batch(int step) {
            return batches.get(Math.floorMod(step, BATCHES));
        }

        private Supplier<Terms> queue(Batch batch) {
            return network.queueGradients(batch.inputs(), batch.targets(), 1);
        }

        /** A step as a training does it, which begins with the next one while it looks at what came of this; returns the loss. */
        double step(int number, TrainingParts parts) {
            Batch now = batch(number);
            Batch next = batch(number + 1);
            long started = System.nanoTime();
            Supplier<Terms> terms = ahead == null ? queue(now) : ahead;
            ahead = null;
            training.apply(new TrainingStep.Next(
                    network::queues, () -> network.stage(next.inputs(), next.targets(), 1), () -> ahead = queue(next)));
            parts.add("queueing", (times[0] - started) / 1e6);
            parts.add("queueing what follows", (times[1] - times[0]) / 1e6);
            parts.add("waiting for the report, and the rest", since(times[1]));
            double loss = terms.get().loss();
            parts.add(STEP, since(started));
            return loss;
        }

        /** The same, with a wait behind every part. */
        void stepByParts(int number, TrainingParts parts) {
            Batch now = batch(number);
            measure("upload", parts, () -> network.stage(now.inputs(), now.targets(), 1));
            measure("pass", parts, () -> network.queueGradients(now.inputs(), now.targets(), 1));
            measure("clipping", parts, () -> network.clipGradients(CLIP_NORM));
            measure("step", parts, () -> optimizer.step(network.weights(), network.gradients()));
            measure("zeroing", parts, network::zeroGradients);
        }

        private void measure(String name, TrainingParts parts, Runnable part) {
            long started = System.nanoTime();
            part.run();
            double asked = since(started);
            network.await();
            parts.add(name, since(started));
            parts.add(name + TrainingParts.ASKED, asked);
        }

        private static double since(long started) {
            return (System.nanoTime() - started) / 1e6;
        }

        @Override
        public void close() {
            optimizer.close();
            network.close();
        }
    }

    /** Samples in a batch, as measured. */
    static int samples(ModelShapes model, int batch) {
        return batch > 0 ? batch : model == ModelShapes.BERT_BASE ? 32 : 128;
    }

    private static Work work(ModelShapes model, int batch) {
        int samples = samples(model, batch);
        return switch (model) {
            case VGG16 -> images(Vgg16.build(ImageOptions.CIFAR10, Weights.seeded(SEED)), PaperRules.VGG16, samples);
            case RESNET34 ->
                images(ResNet34.build(ImageOptions.CIFAR10, Weights.seeded(SEED)), PaperRules.RESNET34, samples);
            case BERT_BASE -> texts(BertConfig.BASE, samples, 384);
            default ->
                throw new IllegalArgumentException("--training measures VGG16, RESNET34 or BERT_BASE, not " + model);
        };
    }

    private static Work images(Graph graph, PaperRules rules, int samples) {
        Random random = new Random(SEED);
        String image = graph.inputs().getFirst().name();
        Objective objective = formula -> {
            Value logits = formula.model(formula.outputs().getFirst());
            Value labels =
                    formula.target("class", DataType.INT64, logits.shape().get(0));
            SequencedMap<String, Value> terms = Objective.terms(Losses.crossEntropy(formula, logits, labels));
            terms.put("right", formula.sum(formula.equal(formula.argMax(logits), labels)));
            return terms;
        };
        return new Work(
                graph,
                rules,
                objective,
                samples,
                () -> new Batch(
                        Map.of(
                                image,
                                Tensor.compute(
                                        DataType.FLOAT32, new long[] {samples, 3, 32, 32}, _ -> random.nextGaussian())),
                        Map.of("class", numbers(random, 10, samples))));
    }

    private static Work texts(BertConfig config, int samples, int length) {
        Random random = new Random(SEED);
        Objective objective = formula -> {
            Value starts = formula.model(Bert.START_LOGITS);
            Value ends = formula.model(Bert.END_LOGITS);
            return Objective.terms(formula.plus(
                    Losses.crossEntropy(
                            formula,
                            starts,
                            formula.target(
                                    "start", DataType.INT64, starts.shape().get(0))),
                    Losses.crossEntropy(
                            formula,
                            ends,
                            formula.target("end", DataType.INT64, ends.shape().get(0)))));
        };
        return new Work(
                Bert.questionAnswering(config, Weights.seeded(SEED)), PaperRules.BERT, objective, samples, () -> {
                    Map<String, Tensor> inputs = new LinkedHashMap<>();
                    inputs.put(Bert.INPUT_IDS, numbers(random, config.vocabulary(), samples, length));
                    inputs.put(
                            Bert.ATTENTION_MASK,
                            Tensor.computeLongs(DataType.INT64, new long[] {samples, length}, _ -> 1));
                    inputs.put(Bert.TOKEN_TYPE_IDS, numbers(random, 2, samples, length));
                    return new Batch(
                            inputs,
                            Map.of("start", numbers(random, length, samples), "end", numbers(random, length, samples)));
                });
    }

    private static Tensor numbers(Random random, int below, long... shape) {
        return Tensor.computeLongs(DataType.INT64, shape, _ -> random.nextInt(below));
    }
}
