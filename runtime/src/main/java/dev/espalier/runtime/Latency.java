package dev.espalier.runtime;

import dev.espalier.graph.type.Tensor;
import java.util.List;
import java.util.Map;

/** How long models take, in milliseconds a run. */
public final class Latency {
    private Latency() {}

    /**
     * Runs models by turns, so that a machine that slows down slows all of them down.
     *
     * @param models the models
     * @param inputs what all are fed with
     * @param rounds how many turns each has
     * @return the milliseconds of the shortest run, model by model: whatever else the machine does makes runs longer
     */
    public static List<Double> measure(List<OnnxRuntimeModel> models, Map<String, Tensor> inputs, int rounds) {
        return measure(models, inputs, rounds, Double.MAX_VALUE);
    }

    /**
     * The same, as long as there is time.
     *
     * @param models the models
     * @param inputs what all are fed with
     * @param rounds how many turns each has at most
     * @param seconds how long it may take; each model is run at least once all the same
     * @return the milliseconds of the shortest run, model by model
     */
    public static List<Double> measure(
            List<OnnxRuntimeModel> models, Map<String, Tensor> inputs, int rounds, double seconds) {
        try (Race race = new Race(inputs, seconds)) {
            List<Race.Runner> runners = models.stream().map(race::enter).toList();
            race.run(rounds);
            return runners.stream().map(Race.Runner::milliseconds).toList();
        }
    }
}
