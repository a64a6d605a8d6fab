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
        try (Race race = new Race(inputs, Double.MAX_VALUE)) {
            List<Race.Runner> runners = models.stream().map(race::enter).toList();
            race.run(rounds);
            return runners.stream().map(Race.Runner::milliseconds).toList();
        }
    }
}
