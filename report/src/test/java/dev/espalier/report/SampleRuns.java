package dev.espalier.report;

import dev.espalier.graph.Graph;
import dev.espalier.graph.GraphBuilder;
import dev.espalier.graph.Value;
import dev.espalier.graph.model.Layers;
import dev.espalier.graph.model.Weights;
import dev.espalier.graph.onnx.OnnxWriter;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import dev.espalier.train.journal.Comparison;
import dev.espalier.train.journal.FidelityFigure;
import dev.espalier.train.journal.FidelityFigure.Measure;
import dev.espalier.train.journal.Findings;
import dev.espalier.train.journal.Footprint;
import dev.espalier.train.journal.Metric;
import dev.espalier.train.journal.Metrics;
import dev.espalier.train.journal.Provenance;
import dev.espalier.train.journal.RunFolder;
import dev.espalier.train.journal.RunResult;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.SequencedMap;
import java.util.SplittableRandom;

/** Folders as training runs leave them, made up but plausible, and models with groups that are zero. */
final class SampleRuns {
    static final Metric ACCURACY = Metric.share("accuracy");

    static final int EPOCHS = 30;
    static final int WARM_UP = 5;
    static final int HEAL = 24;

    /** Name of a layer's weight, its groups, and the share of those that are left in the end. */
    private record Layer(String weight, int groups, double left) {}

    private static final List<Layer> LAYERS = List.of(
            new Layer("conv1.weight", 1, 1),
            new Layer("conv2.weight", 32, 0.5),
            new Layer("conv3.weight", 32, 0.375),
            new Layer("conv4.weight", 64, 0.25),
            new Layer("classifier.weight", 256, 0.2));

    static final String RECIPE = """
            # The digits, with </code></script><script>throw new Error("broken out")</script> in a comment.

            [data]
            kind = "digits"

            [method]
            kind = "proximal"

            [penalty]
            kind = "group-mcp"
            lambda = %s
            beta = 100

            [optimizer]
            kind = "adam"
            rate = 2e-3

            [training]
            prune_for = "size"
            epochs = 30
            batch_size = 64
            """;

    private SampleRuns() {}

    /** A run that is finished. */
    static RunFolder finished(Path path, long seed, double lambda) throws IOException {
        RunFolder folder = underWay(path, seed, lambda, EPOCHS);
        OnnxWriter.write(model(lambda > 0), folder.model());
        folder.write(result(seed, lambda));
        return folder;
    }

    /** What a model made of classes, all of which are taken for the next one now and then. */
    static Findings classes(int count, boolean pictures) {
        List<Findings.Tally> tallies = new ArrayList<>();
        List<Findings.Confusion> confusions = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            tallies.add(new Findings.Tally("class " + i, 100 + i, 40, 40, 40 - wrong(i)));
            if (wrong(i) > 0) {
                confusions.add(new Findings.Confusion(i, (i + 1) % count, wrong(i)));
            }
        }
        confusions.sort(Comparator.comparingLong(Findings.Confusion::count).reversed());
        List<Findings.Mistake> mistakes = new ArrayList<>();
        for (int i = 0; i < Findings.MOST_MISTAKES; i++) {
            byte[] pixels = new byte[3 * 16 * 12];
            new Random(i).nextBytes(pixels);
            mistakes.add(new Findings.Mistake(
                    7L * i + 1,
                    pictures
                            ? List.of(new Findings.Glimpse.Picture("image", 3, 16, 12, pixels))
                            : List.of(
                                    new Findings.Glimpse.Words("width", "1.25"),
                                    new Findings.Glimpse.Words("colour", "<red>")),
                    "class " + i % count,
                    "class " + (i + 1) % count,
                    "97.1 % sure, and 2.9 % of it"));
        }
        return new Findings(
                new Findings.Samples(100L * count, 10L * count, 40L * count),
                new Findings.Outcome.Classes(tallies, confusions),
                mistakes);
    }

    private static int wrong(int truth) {
        return truth == 1 ? 12 : truth % 3;
    }

    /** What a model made of a number. */
    static Findings quantities() {
        Random random = new Random(1);
        List<Double> truths = new ArrayList<>();
        List<Double> estimates = new ArrayList<>();
        List<Long> counts = new ArrayList<>(Collections.nCopies(41, 0L));
        for (int i = 0; i < 700; i++) {
            double error = random.nextGaussian();
            truths.add(1e5 * random.nextDouble());
            estimates.add(truths.getLast() + 5000 * error);
            int place = Math.clamp(Math.round(20 + 8 * error), 0, 40);
            counts.set(place, counts.get(place) + 1);
        }
        return new Findings(
                new Findings.Samples(2800, 0, 700),
                new Findings.Outcome.Quantities(
                        List.of(new Findings.Quantity(
                                "price",
                                -12.5,
                                3370,
                                8220,
                                new Findings.Histogram(-20.5 * 4520.4567891, 4520.4567891, counts),
                                truths,
                                estimates)),
                        3),
                List.of(new Findings.Mistake(
                        5, List.of(new Findings.Glimpse.Words("text", "A <b>dear</b> house")), "1", "2", "off by +1")));
    }

    /** How alike two models are, in classes and in vectors, with texts to look at or with pictures. */
    static Findings fidelity(boolean pictures) {
        Random random = new Random(1);
        List<Long> counts = new ArrayList<>(Collections.nCopies(41, 0L));
        for (int i = 0; i < 700; i++) {
            int place = Math.clamp(Math.round(40 - 6 * Math.abs(random.nextGaussian())), 0, 40);
            counts.set(place, counts.get(place) + 1);
        }
        List<Findings.Deviant> classes = new ArrayList<>();
        List<Findings.Deviant> vectors = new ArrayList<>();
        for (int i = 0; i < Findings.MOST_DEVIANTS; i++) {
            classes.add(new Findings.Deviant(
                    3L * i + 5, 0.91 + 0.005 * i, 2.5 - 0.1 * i, "class %d (61 %%)".formatted(i), "class 3 (48 %)"));
            vectors.add(new Findings.Deviant(7L * i + 2, 0.97 + 0.002 * i, 0.31 - 0.01 * i, "", ""));
        }
        List<Findings.Mistake> worst = new ArrayList<>();
        for (Findings.Deviant deviant : vectors) {
            byte[] pixels = new byte[3 * 16 * 12];
            random.nextBytes(pixels);
            worst.add(new Findings.Mistake(
                    deviant.row(),
                    List.of(
                            pictures
                                    ? new Findings.Glimpse.Picture("image", 3, 16, 12, pixels)
                                    : new Findings.Glimpse.Words(
                                            "text", "What <b>did</b> the Normans call row " + deviant.row() + "?")),
                    "",
                    "",
                    "vector: cosine 0.9713, off by at most 0.31"));
        }
        return new Findings(
                new Findings.Samples(8000, 0, 702),
                new Findings.Outcome.Fidelity(List.of(
                        new Findings.Likeness(
                                "logits",
                                "logits",
                                700,
                                new Findings.NotFinite(0, 2, List.of(17L, 31L)),
                                List.of(new FidelityFigure(Measure.AGREEMENT, 0.974, 0.31)),
                                new Findings.Cosines(0.9931, 0.9962, 0.9512, 0.9123),
                                Findings.Cosines.NONE,
                                0.974,
                                0.974,
                                0.0213,
                                0.9871,
                                0.0921,
                                2.53,
                                new Findings.Histogram(0.95, 0.05 / 41, counts),
                                classes),
                        new Findings.Likeness(
                                "vector",
                                "tokens",
                                702,
                                new Findings.NotFinite(0, 0, List.of()),
                                List.of(
                                        new FidelityFigure(Measure.COSINE, 0.99931, 0.62),
                                        new FidelityFigure(Measure.TOKEN_COSINE, 0.9981, 0.31),
                                        new FidelityFigure(Measure.R2, 0.9971, 0)),
                                new Findings.Cosines(0.99931, 0.99962, 0.99812, 0.97),
                                new Findings.Cosines(0.9981, 0.9988, 0.9712, 0.71),
                                Double.NaN,
                                Double.NaN,
                                Double.NaN,
                                0.9971,
                                0.0321,
                                0.31,
                                new Findings.Histogram(0.998, 0.002 / 41, counts),
                                vectors))),
                worst);
    }

    /** A smaller model beside its original. */
    static Comparison comparison(boolean pictures) {
        return new Comparison(
                "minilm.onnx",
                "small<er>.onnx",
                "squad-questions.txt",
                "input_ids[1 × 14], attention_mask[1 × 14]",
                4,
                new Footprint(90_387_630, 22_565_376, 618_000_000, 9.56, 4.31),
                new Footprint(47_113_904, 11_910_144, 289_000_000, 4.9, 2.4),
                fidelity(pictures),
                List.of("The outputs are called differently, and are compared in their order: y with vector."));
    }

    /** A run that has come as far as some epoch. */
    static RunFolder underWay(Path path, long seed, double lambda, int epochs) throws IOException {
        RunFolder folder = new RunFolder(path);
        Files.createDirectories(path);
        Files.writeString(folder.recipe(), RECIPE.formatted(lambda));
        folder.write(new Provenance(
                "0.1.0",
                "0123456789abcdef0123456789abcdef01234567",
                "2026-03-01T12:34:56.789Z",
                seed,
                "25.0.1 (Eclipse Adoptium)",
                "Linux 6.1",
                "amd64",
                2,
                "PyTorch 2.7.1, 2 threads",
                "vector, 8 lanes",
                "cpu"));
        SplittableRandom random = new SplittableRandom(seed);
        for (int epoch = 1; epoch <= epochs; epoch++) {
            folder.append(metrics(epoch, lambda, random));
        }
        return folder;
    }

    private static Metrics metrics(int epoch, double lambda, SplittableRandom random) {
        double noise = 0.1 * (random.nextDouble() - 0.5);
        double sparse = lambda > 0 ? 0.3 * share(epoch, WARM_UP, HEAL) : 0;
        double loss = 2.2 * Math.exp(-epoch / 4.0) + 0.05 * (1 + noise) + 0.1 * sparse;
        String phase = lambda == 0 || epoch <= WARM_UP ? "warm-up" : epoch <= HEAL ? "sparsify" : "heal";
        SequencedMap<String, Integer> nonZero = new LinkedHashMap<>();
        LAYERS.forEach(layer -> nonZero.put(layer.weight(), (int)
                Math.round(layer.groups() * (lambda == 0 ? 1 : 1 - (1 - layer.left()) * share(epoch, WARM_UP, HEAL)))));
        int left = nonZero.values().stream().mapToInt(Integer::intValue).sum();
        boolean penalised = phase.equals("sparsify");
        return new Metrics(
                epoch * 23L,
                epoch,
                phase,
                3.7 * epoch,
                420 + 100 * noise,
                2e-3 * (1 + Math.cos(Math.PI * epoch / EPOCHS)) / 2,
                penalised ? lambda : 0,
                loss * (0.9 + noise),
                scores(0.99 - 0.7 * Math.exp(-epoch / 3.0) + 0.05 * noise),
                penalised ? 40 * lambda * left : 0,
                loss * (1.1 + noise),
                scores(0.985 - 0.75 * Math.exp(-epoch / 2.5) + 0.02 * noise - 0.01 * sparse),
                left / 385.0,
                penalised ? 1.4 + 2 * Math.exp(-epoch / 6.0) : 0,
                0,
                nonZero,
                new LinkedHashMap<>());
    }

    private static double share(int epoch, int from, int to) {
        double t = Math.clamp((epoch - from) / (double) (to - from), 0, 1);
        return t * (2 - t);
    }

    private static SequencedMap<Metric, Double> scores(double accuracy) {
        return new LinkedHashMap<>(Map.of(ACCURACY, accuracy));
    }

    private static RunResult result(long seed, double lambda) {
        double accuracy = 0.98 - 0.002 * (seed % 3);
        boolean dense = lambda == 0;
        return new RunResult(
                seed,
                690,
                111,
                lambda,
                0.08,
                scores(dense ? 0.985 : accuracy),
                scores(dense ? 0.985 : accuracy),
                dense ? 1 : 97.0 / 385,
                dense ? 1 : 94.0 / 385,
                68_170,
                dense ? 68_170 : 9_012 + 10 * seed,
                6_120_448,
                dense ? 6_120_448 : 1_130_022,
                dense ? 0 : 1.43e-6,
                0.231,
                dense ? 0.230 : 0.079,
                new RunResult.Files(274_000, dense ? 274_000 : 37_500, 4, 0.094, dense ? 0.093 : 0.041, 0));
    }

    /** Four convolutions and a classifier of 8×8 images. */
    static Graph model(boolean sparse) {
        GraphBuilder graph = new GraphBuilder("small");
        Layers layers = new Layers(graph, Weights.seeded(1));
        Value signal = graph.input("image", DataType.FLOAT32, "batch", 1, 8, 8);
        int[] filters = {32, 32, 64, 64};
        for (int i = 0; i < filters.length; i++) {
            String name = "conv" + (i + 1);
            signal = layers.relu(name + ".relu", layers.convolution(name, signal, filters[i], 3, 1));
            if (i % 2 == 1) {
                signal = layers.maxPool(name + ".pool", signal, 2);
            }
        }
        signal = layers.flatten("flatten", signal);
        Graph dense = graph.outputs(layers.linear("classifier", signal, 10, "logits"));
        return sparse ? zeroed(dense) : dense;
    }

    /** The groups that a layer has left are its first and last ones. */
    private static Graph zeroed(Graph dense) {
        Map<String, Tensor> changed = new LinkedHashMap<>();
        for (Layer layer : LAYERS) {
            Tensor weight = Objects.requireNonNull(dense.tensor(layer.weight()));
            long kernel = weight.rank() == 4 ? 9 : 1;
            SplittableRandom random = new SplittableRandom(layer.groups());
            boolean[] left = new boolean[layer.groups()];
            for (int i = 0; i < left.length; i++) {
                left[i] = i == 0 || random.nextDouble() < layer.left();
            }
            changed.put(
                    layer.weight(),
                    Tensor.compute(
                            weight.type(),
                            weight.shape(),
                            i -> left[(int) (i / kernel % left.length)] ? weight.getDouble(i) : 0));
        }
        return dense.withTensors(changed);
    }
}
