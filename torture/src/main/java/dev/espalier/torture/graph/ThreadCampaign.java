package dev.espalier.torture.graph;

import dev.espalier.engine.Device;
import dev.espalier.engine.Network;
import dev.espalier.graph.Graph;
import dev.espalier.graph.GraphBuilder;
import dev.espalier.graph.Value;
import dev.espalier.graph.objective.Losses;
import dev.espalier.graph.objective.Objective;
import dev.espalier.graph.op.BatchNorm;
import dev.espalier.graph.op.Conv;
import dev.espalier.graph.op.Elementwise.Unary;
import dev.espalier.graph.op.Flatten;
import dev.espalier.graph.op.Gemm;
import dev.espalier.graph.op.GlobalPool;
import dev.espalier.graph.op.Pad;
import dev.espalier.graph.op.Pool;
import dev.espalier.graph.op.Windows;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import dev.espalier.torture.Campaign;
import dev.espalier.torture.Effort;
import dev.espalier.torture.Figures;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * One network, many threads, and more input shapes than plans are kept for: every prediction and every loss must have the bits that one
 * thread gets. A case is a number of passes on each thread.
 */
public final class ThreadCampaign implements Campaign {
    private static final int THREADS = 8;

    /** More than the engine keeps plans for, so that each thread evicts what others run. */
    private static final int SHAPES = 48;

    private static final int PASSES = 60;

    private final int passes;

    /** Made by the service loader. */
    public ThreadCampaign() {
        this(PASSES);
    }

    /**
     * One of another size.
     *
     * @param passes how many each thread does in a case
     */
    ThreadCampaign(int passes) {
        this.passes = passes;
    }

    @Override
    public String name() {
        return "threads";
    }

    @Override
    public String description() {
        return "predictions and losses of one network on 8 threads, with more shapes than it keeps plans for";
    }

    /** Layers whose plans have constants of their own: corrections of means at the border, and positions to pad from. */
    private static Graph graph() {
        SplittableRandom random = new SplittableRandom(1);
        GraphBuilder graph = new GraphBuilder("shapes");
        Value x = graph.input("x", DataType.FLOAT32, "batch", 2, "height", "width");
        Value signal = graph.add(
                "conv",
                new Conv(Windows.square(1, 1), 1),
                x,
                graph.parameter("conv.weight", tensor(random, 4, 2, 3, 3)));
        signal = graph.add(
                "norm",
                new BatchNorm(1e-5, 0.9),
                signal,
                graph.parameter("norm.weight", tensor(random, 4)),
                graph.parameter("norm.bias", tensor(random, 4)),
                graph.buffer("norm.mean", tensor(random, 4)),
                graph.buffer("norm.variance", Tensor.compute(DataType.FLOAT32, new long[] {4}, i -> 1 + i)));
        for (int i = 0; i < 4; i++) {
            List<Long> pads = List.of(0L, 0L, 1L, 1L, 0L, 0L, 1L, 0L);
            signal = graph.add("pad" + i, new Pad(Pad.Mode.REFLECT, pads, 0), signal);
            Pool mean = new Pool(Pool.Function.AVERAGE, List.of(3L, 3L), Windows.square(1, 1), false, false);
            signal = graph.add("mean" + i, mean, graph.add("relu" + i, new Unary(Unary.Function.RELU), signal));
        }
        Value features =
                graph.add("flatten", new Flatten(1), graph.add("all", new GlobalPool(Pool.Function.AVERAGE), signal));
        return graph.outputs(
                graph.add("logits", Gemm.LINEAR, features, graph.parameter("logits.weight", tensor(random, 3, 4))));
    }

    private static Tensor tensor(SplittableRandom random, long... shape) {
        return Tensor.compute(DataType.FLOAT32, shape, _ -> random.nextDouble(-1, 1));
    }

    private static Objective objective() {
        return formula -> {
            Value logits = formula.model("logits");
            Value classes =
                    formula.target("class", DataType.INT64, logits.shape().get(0));
            return Objective.terms(Losses.crossEntropy(formula, logits, classes));
        };
    }

    /**
     * What one thread gets for a shape.
     *
     * @param logits its bytes
     */
    private record Sample(Map<String, Tensor> inputs, Map<String, Tensor> targets, Tensor logits, double loss) {
        static Sample of(Network network, SplittableRandom random, int number) {
            long batch = 1L + number % 3;
            Map<String, Tensor> inputs = Map.of("x", tensor(random, batch, 2, 4 + number % 9, 4 + number / 4));
            Map<String, Tensor> targets =
                    Map.of("class", Tensor.computeLongs(DataType.INT64, new long[] {batch}, i -> i % 3));
            return new Sample(
                    inputs,
                    targets,
                    network.predict(inputs).firstEntry().getValue(),
                    network.terms(inputs, targets).values().firstEntry().getValue());
        }
    }

    @Override
    public Figures run(Effort effort) throws IOException, InterruptedException {
        Device.useThreads(1);
        Figures figures = effort.figures();
        try (Network network = new Network(graph(), objective(), Device.CPU);
                ExecutorService threads = Executors.newFixedThreadPool(THREADS)) {
            SplittableRandom random = new SplittableRandom(effort.seed());
            List<Sample> samples = new ArrayList<>();
            for (int i = 0; i < SHAPES; i++) {
                samples.add(Sample.of(network, random, i));
            }
            while (effort.more()) {
                List<Future<?>> running = new ArrayList<>();
                for (int thread = 0; thread < THREADS; thread++) {
                    SplittableRandom own = random.split();
                    running.add(threads.submit(() -> passes(network, samples, own, figures)));
                }
                for (Future<?> one : running) {
                    try {
                        one.get();
                    } catch (ExecutionException failure) {
                        figures.fail("a pass failed: " + failure.getCause());
                    }
                }
            }
        }
        return figures;
    }

    private void passes(Network network, List<Sample> samples, SplittableRandom random, Figures figures) {
        for (int i = 0; i < passes; i++) {
            Sample sample = samples.get(random.nextInt(samples.size()));
            if (random.nextBoolean()) {
                Tensor logits = network.predict(sample.inputs()).firstEntry().getValue();
                figures.add("predictions", 1);
                if (!logits.sameAs(sample.logits())) {
                    figures.fail("a prediction of " + sample.inputs() + " differs from that of one thread");
                }
            } else {
                double loss = network.terms(sample.inputs(), sample.targets())
                        .values()
                        .firstEntry()
                        .getValue();
                figures.add("losses", 1);
                if (loss != sample.loss()) {
                    figures.fail("a loss of " + sample.inputs() + " is " + loss + " and not " + sample.loss());
                }
            }
        }
    }
}
