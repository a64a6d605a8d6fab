package dev.espalier.runtime;

import dev.espalier.core.check.Check;
import dev.espalier.graph.Graph;
import dev.espalier.graph.GraphException;
import dev.espalier.graph.Initializer;
import dev.espalier.graph.onnx.OnnxWriter;
import dev.espalier.graph.quantize.Quantization;
import dev.espalier.graph.type.Tensor;
import dev.espalier.runtime.OnnxRuntimeModel.Optimization;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;

/**
 * An int8 model, and what became of the float model that it was made of: both were run beside each other in ONNX Runtime.
 *
 * @param quantization the int8 model
 * @param likeness how near its outputs are
 * @param bytesBefore size of the float model's weights
 * @param bytesAfter size of its own
 * @param millisecondsBefore how long a run of the float model takes; 0 if that was not measured
 * @param millisecondsAfter how long one of its own takes; 0 if that was not measured
 */
public record Int8(
        Quantization quantization,
        Likeness likeness,
        long bytesBefore,
        long bytesAfter,
        double millisecondsBefore,
        double millisecondsAfter) {

    /** How many turns both models have when they are timed. */
    private static final int ROUNDS = 50;

    /**
     * How near two models' outputs are.
     *
     * @param cosine of the angle between them; the least of all outputs and inputs
     * @param error the length of the difference over that of the float model's output; the largest of all
     */
    public record Likeness(double cosine, double error) {
        /** Nothing differs. */
        private static final Likeness SAME = new Likeness(1, 0);

        private static Likeness of(Tensor wanted, Tensor actual) {
            double product = 0;
            double squares = 0;
            double actualSquares = 0;
            double differences = 0;
            for (long i = 0; i < wanted.size(); i++) {
                double left = wanted.getDouble(i);
                double right = actual.getDouble(i);
                product += left * right;
                squares += left * left;
                actualSquares += right * right;
                differences += (left - right) * (left - right);
            }
            if (differences == 0) {
                return SAME;
            }
            // Nothing but zeros has no direction: whatever differs from it could not differ more.
            return squares == 0 || actualSquares == 0
                    ? new Likeness(0, squares == 0 ? Double.POSITIVE_INFINITY : 1)
                    : new Likeness(product / Math.sqrt(squares * actualSquares), Math.sqrt(differences / squares));
        }

        private Likeness and(Likeness other) {
            return new Likeness(Math.min(cosine, other.cosine), Math.max(error, other.error));
        }
    }

    /**
     * How models are quantised and measured.
     *
     * @param bits how many bits the codes of weights use, 8 or 7
     * @param calibrated whether convolutions are quantised, by what the inputs make of them; if not, only matrices and tables are
     * @param leastCosine how near outputs must be: convolutions that lose much by rounding are left as they are until they are so near
     * @param threads how many threads a single operator may use
     * @param seconds how long latency may be measured; 0 for not at all
     * @param writing how the int8 model is going to be written
     * @param progress is told how things stand, in words
     */
    public record Settings(
            int bits,
            boolean calibrated,
            double leastCosine,
            int threads,
            double seconds,
            OnnxWriter.Options writing,
            Consumer<String> progress) {
        /** How near outputs must be if nobody says so. */
        public static final double LEAST_COSINE = 0.99;

        /** Matrices and tables only. */
        public static final Settings DYNAMIC = new Settings(
                Quantization.BITS, false, LEAST_COSINE, 1, Timing.SECONDS, OnnxWriter.Options.DEFAULT, _ -> {});

        /** Convolutions too. */
        public static final Settings CALIBRATED = new Settings(
                Quantization.BITS, true, LEAST_COSINE, 1, Timing.SECONDS, OnnxWriter.Options.DEFAULT, _ -> {});

        /** Checks the numbers. */
        public Settings {
            Check.atLeast("threads", threads, 1);
            Check.fraction("leastCosine", leastCosine);
            Check.notNegative("seconds", seconds);
        }
    }

    /**
     * Makes an int8 model of a float model.
     *
     * @param floats the float model
     * @param batches inputs by name that both are run with; convolutions are calibrated with them
     * @param settings how
     * @return the int8 model, and how it compares
     * @throws IllegalArgumentException if there is no batch
     * @throws GraphException if the int8 model gives something that is no number where the float model gives one
     */
    public static Int8 of(Graph floats, List<Map<String, Tensor>> batches, Settings settings) {
        if (batches.isEmpty()) {
            throw new IllegalArgumentException("there are no inputs to compare models with: give at least one batch");
        }
        try (OnnxRuntimeModel original = load(floats, settings)) {
            List<Map<String, Tensor>> wanted =
                    batches.stream().<Map<String, Tensor>>map(original::run).toList();
            return new Work(floats, batches, settings, original, wanted).run();
        }
    }

    private static OnnxRuntimeModel load(Graph graph, Settings settings) {
        return OnnxRuntimeModel.of(graph, settings.writing(), settings.threads(), Optimization.ALL);
    }

    private record Work(
            Graph floats,
            List<Map<String, Tensor>> batches,
            Settings settings,
            OnnxRuntimeModel original,
            List<Map<String, Tensor>> wanted) {

        Int8 run() {
            Quantization.Options options = new Quantization.Options(settings.bits(), Set.of());
            if (!settings.calibrated()) {
                return finish(Quantization.dynamic(floats, options));
            }
            settings.progress().accept("looking at what flows through the model");
            Calibration calibration = Calibration.of(floats, batches, settings.threads());
            Quantization made = Quantization.calibrated(floats, calibration.ranges(), options);
            settings.progress().accept("comparing");
            if (isNear(made)) {
                return finish(made);
            }
            List<String> worst = worst(calibration, options);
            int floating = 0;
            do {
                floating = Math.min(floating + Math.ceilDiv(floating + 1, 2), worst.size());
                settings.progress()
                        .accept("leaving %d of %d convolutions as they are".formatted(floating, worst.size()));
                Set<String> left = new HashSet<>(worst.subList(0, floating));
                made = Quantization.calibrated(floats, calibration.ranges(), options.leaving(left));
            } while (floating < worst.size() && !isNear(made));
            return finish(made);
        }

        private boolean isNear(Quantization made) {
            return likeness(made, batches.size()).cosine() >= settings.leastCosine();
        }

        /** Convolutions, those first that change outputs most if they alone are quantised. */
        private List<String> worst(Calibration calibration, Quantization.Options options) {
            List<String> all = Quantization.convolutions(floats);
            Map<String, Double> cosines = new HashMap<>();
            for (String one : all) {
                settings.progress()
                        .accept("trying convolution %d of %d alone".formatted(cosines.size() + 1, all.size()));
                Set<String> others = new HashSet<>(all);
                others.remove(one);
                Quantization made = Quantization.calibrated(floats, calibration.ranges(), options.leaving(others));
                cosines.put(one, likeness(made, 1).cosine());
            }
            return all.stream()
                    .sorted(Comparator.comparingDouble((String one) -> cosines.getOrDefault(one, 1.0)))
                    .toList();
        }

        private Likeness likeness(Quantization made, int count) {
            try (OnnxRuntimeModel model = load(made.graph(), settings)) {
                return likeness(model, count);
            }
        }

        private Likeness likeness(OnnxRuntimeModel model, int count) {
            Likeness least = Likeness.SAME;
            for (int i = 0; i < count; i++) {
                Map<String, Tensor> found = model.run(batches.get(i));
                for (Map.Entry<String, Tensor> output : wanted.get(i).entrySet()) {
                    Tensor actual = found.get(output.getKey());
                    if (actual == null) {
                        throw new GraphException("the int8 model has no output " + output.getKey());
                    }
                    least = least.and(Likeness.of(output.getValue(), actual));
                }
            }
            return least;
        }

        private Int8 finish(Quantization made) {
            try (OnnxRuntimeModel model = load(made.graph(), settings)) {
                Likeness likeness = likeness(model, batches.size());
                if (Double.isNaN(likeness.error()) || Double.isNaN(likeness.cosine())) {
                    throw new GraphException(
                            "outputs of the model, or of the int8 model, are no finite numbers for some of the inputs:"
                                    + " nothing can be said of the int8 model");
                }
                List<Double> times = List.of(0.0, 0.0);
                if (settings.seconds() > 0) {
                    settings.progress().accept("timing");
                    try (Race race = new Race(batches.getFirst(), settings.seconds())) {
                        Race.Runner before = race.enter(original);
                        Race.Runner after = race.enter(model);
                        race.run(ROUNDS);
                        times = List.of(before.milliseconds(), after.milliseconds());
                    }
                }
                return new Int8(made, likeness, bytes(floats), bytes(made.graph()), times.getFirst(), times.getLast());
            }
        }
    }

    private static long bytes(Graph graph) {
        return graph.initializers().values().stream()
                .map(Initializer::tensor)
                .mapToLong(tensor -> tensor.data().byteSize())
                .sum();
    }

    /** {@return the int8 model itself} */
    public Graph graph() {
        return quantization.graph();
    }

    private static String count(int number, String one, String more) {
        return String.format(Locale.ROOT, "%,d %s", number, number == 1 ? one : more);
    }

    /** {@return what was done and how it compares, as a line} */
    public String summary() {
        return String.format(
                Locale.ROOT,
                "int8: %s, %s, %s; %,d of %,d bytes of weights; the cosine to the float model's"
                        + " outputs is at least %.4f, they differ by at most %.2g of their length%s",
                count(quantization.matrices(), "matrix", "matrices"),
                count(quantization.tables(), "table", "tables"),
                count(quantization.convolutions(), "convolution", "convolutions"),
                bytesAfter,
                bytesBefore,
                likeness.cosine(),
                likeness.error(),
                millisecondsBefore == 0
                        ? ""
                        : String.format(
                                Locale.ROOT,
                                "; %.3g ms instead of %.3g ms a run",
                                millisecondsAfter,
                                millisecondsBefore));
    }
}
