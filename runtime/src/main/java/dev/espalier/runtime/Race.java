package dev.espalier.runtime;

import dev.espalier.core.check.Check;
import dev.espalier.graph.type.Tensor;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;

/**
 * Models that run by turns on the same inputs, so that a machine that slows down slows all of them down. What counts is the shortest run of
 * each: whatever else a machine does makes a run longer, never shorter.
 */
final class Race implements AutoCloseable {
    /** A turn has as many runs as fit into this, and at least one. */
    private static final double TURN_MILLISECONDS = 1;

    /** Nobody is quicker for having more runs than these in a turn. */
    private static final int MOST_RUNS = 16;

    /** Who takes so many times as long as the quickest has lost, */
    private static final double LOST = 1.15;

    /** and so many milliseconds more: what is over at once costs little to run on, and is quicker once it is warm. */
    private static final double LOST_MILLISECONDS = 0.05;

    private final Map<String, Tensor> inputs;
    private final long deadline;
    private final List<Runner> running = new ArrayList<>();

    /** A model in the race. */
    final class Runner {
        private final OnnxRuntimeModel model;
        private final OnnxRuntimeModel.Feed feed;
        private double shortest;

        private Runner(OnnxRuntimeModel model) {
            this.model = model;
            this.feed = model.new Feed(inputs);
            // The first run also makes what later ones only use, and counts if there is no time for another one.
            this.shortest = feed.milliseconds();
        }

        private void turn() {
            double spent = 0;
            for (int run = 0; run == 0 || (spent < TURN_MILLISECONDS && run < MOST_RUNS); run++) {
                double time = feed.milliseconds();
                spent += time;
                shortest = Math.min(shortest, time);
            }
        }

        /** {@return the milliseconds of its shortest run} */
        double milliseconds() {
            return shortest;
        }
    }

    /**
     * A race.
     *
     * @param inputs what all are fed with
     * @param seconds how long it may take; each model is run at least once all the same
     */
    Race(Map<String, Tensor> inputs, double seconds) {
        this.inputs = inputs;
        this.deadline = System.nanoTime() + (long) (Check.notNegative("seconds", seconds) * 1e9);
    }

    /** {@return seconds until the race is over; negative if it is} */
    double secondsLeft() {
        return (deadline - System.nanoTime()) / 1e9;
    }

    /**
     * Lets a model in.
     *
     * @param model the model; whoever gives it closes it
     * @return how it stands
     */
    Runner enter(OnnxRuntimeModel model) {
        Runner runner = new Runner(model);
        running.add(runner);
        return runner;
    }

    /**
     * Has all run by turns, until time is up.
     *
     * @param rounds how many turns each has at most
     */
    void run(int rounds) {
        for (int round = 0; round < rounds && secondsLeft() > 0; round++) {
            // Each comes after each other one: what was done before leaves traces in caches.
            (round % 2 == 0 ? running : running.reversed()).forEach(Runner::turn);
        }
    }

    /**
     * Takes out who has lost.
     *
     * @param stay who runs on in any case
     * @return the models that are out
     */
    List<OnnxRuntimeModel> drop(Runner stay) {
        double best = running.stream()
                .min(Comparator.comparingDouble(Runner::milliseconds))
                .orElse(stay)
                .milliseconds();
        List<Runner> lost = running.stream()
                .filter(runner -> runner != stay && runner.milliseconds() > LOST * best + LOST_MILLISECONDS)
                .toList();
        running.removeAll(lost);
        lost.forEach(runner -> runner.feed.close());
        return lost.stream().map(runner -> runner.model).toList();
    }

    @Override
    public void close() {
        running.forEach(runner -> runner.feed.close());
    }
}
