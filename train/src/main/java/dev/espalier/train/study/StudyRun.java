package dev.espalier.train.study;

import dev.espalier.train.journal.Metric;
import dev.espalier.train.journal.Metrics;
import dev.espalier.train.study.Outcome.End;
import dev.espalier.train.study.Plan.Branch;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A study carried out: every trial is launched as soon as what it needs is there. What is finished is not done again, and what was stopped goes
 * on; a trial that comes to nothing does not keep others from going on, and one that was to start from it starts from where that one did.
 */
public final class StudyRun {
    private static final long PATIENCE_MILLISECONDS = 200;

    private final Plan plan;
    private final Launcher launcher;
    private final StudyListener listener;
    private final BooleanSupplier stop;
    private final Map<String, Trial> trials = new HashMap<>();
    private final Map<String, Outcome> outcomes = new ConcurrentHashMap<>();
    private boolean stopping;

    /**
     * A study.
     *
     * @param plan its trials
     * @param launcher who carries them out
     * @param listener told how it goes
     * @param stop asked now and then: true to have all that runs stopped, so that it can go on later
     */
    public StudyRun(Plan plan, Launcher launcher, StudyListener listener, BooleanSupplier stop) {
        this.plan = plan;
        this.launcher = launcher;
        this.listener = listener;
        this.stop = stop;
        plan.trials().forEach(trial -> trials.put(trial.name(), trial));
    }

    /**
     * Carries it out.
     *
     * @return how all trials ended
     * @throws IOException if something cannot be read or written; what was written before stays
     */
    public StudyResult run() throws IOException {
        boolean whole = false;
        try {
            StudyResult result = carryOut();
            whole = true;
            return result;
        } finally {
            if (!whole) {
                // Whoever closes the launcher waits for what runs: without this, until all of it is trained to its end.
                launcher.stop();
            }
        }
    }

    private StudyResult carryOut() throws IOException {
        List<Branch> left = plan.branches();
        for (int rung : rungs()) {
            List<Branch> all = left;
            carryOut(all.stream()
                    .flatMap(branch -> branch.trials().stream())
                    .map(trial -> trial.until(rung))
                    .toList());
            if (stopping) {
                return soFar();
            }
            left = leaveBehind(all, rung);
        }
        carryOut(left.stream().flatMap(branch -> branch.trials().stream()).toList());
        return soFar();
    }

    /** {@return how all trials ended that have; asked by any thread, while it runs or after} */
    public StudyResult soFar() {
        SequencedMap<String, Outcome> ordered = new LinkedHashMap<>();
        plan.trials().forEach(trial -> {
            Outcome outcome = outcomes.get(trial.name());
            if (outcome != null) {
                ordered.put(trial.name(), outcome);
            }
        });
        return new StudyResult(plan, ordered);
    }

    private List<Integer> rungs() {
        int epochs = plan.branches().stream()
                .mapToInt(branch -> branch.recipe().totalEpochs())
                .min()
                .orElse(0);
        return plan.halving()
                .map(halving -> halving.rungs(epochs, plan.branches().size()))
                .orElse(List.of());
    }

    /** Tells those that do not go on that they are over; returns the others, in the plan's order. */
    private List<Branch> leaveBehind(List<Branch> branches, int rung) throws IOException {
        Set<Branch> best = best(branches);
        List<Branch> left = branches.stream().filter(best::contains).toList();
        listener.onNote("after epoch %d, %d of %d go on: %s"
                .formatted(
                        rung,
                        left.size(),
                        branches.size(),
                        String.join(", ", left.stream().map(Branch::name).toList())));
        for (Branch branch : branches) {
            for (Outcome outcome : best.contains(branch) ? List.<Outcome>of() : paused(branch)) {
                end(new Outcome(outcome.trial(), End.LEFT_BEHIND, outcome.text()));
            }
        }
        return left;
    }

    /** Those that go on. What came to nothing is not in the way of others. */
    private Set<Branch> best(List<Branch> branches) throws IOException {
        record Ranked(Branch branch, Metric metric, double score) {}
        List<Ranked> ranked = new ArrayList<>();
        for (Branch branch : branches) {
            List<Metrics> lines = new ArrayList<>();
            for (Outcome outcome : paused(branch)) {
                lines.add(outcome.metrics());
            }
            if (!lines.isEmpty()) {
                Metric metric = lines.getFirst().scores().firstEntry().getKey();
                double mean = lines.stream()
                        .mapToDouble(line -> line.scores().firstEntry().getValue())
                        .average()
                        .orElseThrow();
                ranked.add(new Ranked(branch, metric, mean));
            }
        }
        return ranked.stream()
                .sorted(Comparator.comparingDouble(
                        (Ranked one) -> switch (one.metric().direction()) {
                            case HIGHER -> -one.score();
                            case LOWER -> one.score();
                        }))
                .limit(plan.halving().orElseThrow().survivors(branches.size()))
                .map(Ranked::branch)
                .collect(Collectors.toSet());
    }

    private List<Outcome> paused(Branch branch) {
        return branch.trials().stream()
                .flatMap(trial -> Optional.ofNullable(outcomes.get(trial.name())).stream())
                .filter(outcome -> outcome.end() == End.PAUSED)
                .toList();
    }

    private void carryOut(List<Trial> wanted) throws IOException {
        BlockingQueue<Outcome> ends = new LinkedBlockingQueue<>();
        Map<String, Trial> waiting = new LinkedHashMap<>();
        Map<String, List<Trial>> waitFor = new HashMap<>();
        for (Trial trial : wanted) {
            if (!isOver(trial)) {
                waiting.put(trial.name(), trial);
                trial.needs()
                        .forEach(other -> waitFor.computeIfAbsent(other, _ -> new ArrayList<>())
                                .add(trial));
            }
        }
        int running = launch(List.copyOf(waiting.values()), waiting, ends);
        while (running > 0) {
            askWhetherToStop();
            Outcome outcome = next(ends);
            if (outcome != null) {
                running--;
                end(outcome);
                running += launch(waitFor.getOrDefault(outcome.trial(), List.of()), waiting, ends);
            }
        }
        waiting.keySet().forEach(name -> outcomes.put(name, new Outcome(name, End.STOPPED, "")));
        stopping |= outcomes.values().stream().anyMatch(outcome -> outcome.end() == End.STOPPED);
    }

    private void end(Outcome outcome) throws IOException {
        outcomes.put(outcome.trial(), outcome);
        listener.onEnd(trial(outcome.trial()), outcome, this::soFar);
    }

    private void askWhetherToStop() {
        if (!stopping && stop.getAsBoolean()) {
            stopping = true;
            launcher.stop();
        }
    }

    private static @Nullable Outcome next(BlockingQueue<Outcome> ends) throws IOException {
        try {
            return ends.poll(PATIENCE_MILLISECONDS, TimeUnit.MILLISECONDS);
        } catch (InterruptedException interruption) {
            Thread.currentThread().interrupt();
            throw new IOException("the study was interrupted", interruption);
        }
    }

    private boolean isOver(Trial trial) {
        Outcome outcome = outcomes.get(trial.name());
        return outcome != null && outcome.isOver();
    }

    /** Launches those that have all that they need, and takes them out of what waits; returns how many. */
    private int launch(List<Trial> candidates, Map<String, Trial> waiting, BlockingQueue<Outcome> ends)
            throws IOException {
        List<Trial> ready = new ArrayList<>();
        for (Trial trial : stopping ? List.<Trial>of() : candidates) {
            Optional<Trial> now = waiting.containsKey(trial.name()) ? ready(trial) : Optional.empty();
            if (now.isPresent()) {
                ready.add(now.get());
                waiting.remove(trial.name());
            }
        }
        if (!ready.isEmpty()) {
            launcher.launch(ready, ends::add);
        }
        return ready.size();
    }

    /** The trial with what it needs, if that is there; what came to nothing is gone round. */
    private Optional<Trial> ready(Trial trial) {
        Trial resolved = trial;
        while (!resolved.start().equals(Trial.FRESH) && cameToNothing(resolved.start())) {
            resolved = resolved.startingFrom(trial(resolved.start()).start());
        }
        if (cameToNothing(resolved.prices())) {
            resolved = resolved.withPricesOf(resolved.name());
        }
        boolean there = resolved.needs().stream().allMatch(other -> {
            Outcome outcome = outcomes.get(other);
            return outcome != null && outcome.end() == End.FINISHED;
        });
        return there ? Optional.of(resolved) : Optional.empty();
    }

    private Trial trial(String name) {
        return Objects.requireNonNull(trials.get(name), name);
    }

    private boolean cameToNothing(String other) {
        Outcome outcome = outcomes.get(other);
        return outcome != null && outcome.isOver() && outcome.end() != End.FINISHED;
    }
}
