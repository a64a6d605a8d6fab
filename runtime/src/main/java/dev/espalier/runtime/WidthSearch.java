package dev.espalier.runtime;

import dev.espalier.graph.Cost;
import dev.espalier.graph.Graph;
import dev.espalier.graph.prune.LayerPlan;
import dev.espalier.graph.prune.PrunePlan;
import dev.espalier.graph.prune.Widths;
import dev.espalier.graph.prune.Widths.Selections;
import dev.espalier.runtime.PruneTrial.Tried;
import dev.espalier.runtime.Timing.Goal;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.UnaryOperator;

/**
 * Looks for the widths that ONNX Runtime runs fastest. They are tried one after the other, by turns with the original and with those
 * that are about as fast as the fastest so far, as long as there is time.
 */
final class WidthSearch implements AutoCloseable {
    /** Lanes of a processor: eight of AVX2, sixteen of AVX-512, four of NEON. Blocked kernels have blocks of these. */
    private static final List<Integer> MULTIPLES = List.of(8, 16, 4);

    /** Turns of a newcomer, together with all who are left. */
    private static final int FIRST_ROUNDS = 6;

    /** Turns of those who are left in the end. */
    private static final int LAST_ROUNDS = 60;

    /** The part of the time in which newcomers are let in. */
    private static final double ENTRY = 0.6;

    /** Who takes at most so many times as long as another is as fast: clocks are not more exact. */
    private static final double NOISE = 1.03;

    /** Nor so exact, in milliseconds: the call alone takes that long, and on a busy machine as much again. */
    private static final double TICK = 0.01;

    /** Milliseconds that a cut may cost, however soon a model is over: what the shortest of many runs varies by. */
    private static final double SLOWER = 0.003;

    private final Judge judge;
    private final UnaryOperator<Graph> whole;
    private final Timing timing;
    private final Race race;
    private final Race.Runner original;
    private final List<Candidate> candidates = new ArrayList<>();
    private final Set<List<Object>> shapes = new HashSet<>();
    private final List<OnnxRuntimeModel> loaded = new ArrayList<>();
    private final List<OptimizerException> broken = new ArrayList<>();

    /** A model in the race, and how large it is. */
    private record Candidate(PrunePlan plan, long parameters, Race.Runner runner) {}

    /**
     * A search.
     *
     * @param judge the original
     * @param whole puts around a pruned model what was around it
     * @param timing what is looked for, and how long
     */
    WidthSearch(Judge judge, UnaryOperator<Graph> whole, Timing timing) {
        this.judge = judge;
        this.whole = whole;
        this.timing = timing;
        this.race = judge.race(timing.seconds());
        this.original = judge.enter(race);
    }

    /**
     * Tries widths.
     *
     * @param narrowest a plan that cuts out all that can go; for size, nothing else is tried
     * @return what was tried, the best first; if it is for latency, what is not cut at all among it
     * @throws OptimizerException if ONNX Runtime breaks all that is cut
     */
    List<Tried> find(PrunePlan narrowest) {
        enter(narrowest);
        if (timing.goal() == Goal.LATENCY && narrowest.changes()) {
            PrunePlan uncut = narrowest.uncut();
            candidates.add(new Candidate(uncut, Cost.parameters(uncut.apply()), original));
            usual().forEach(widths -> tryOut(narrowest, widths));
            Widths best = ranked().getFirst().plan().widths();
            MULTIPLES.forEach(multiple -> tryOut(narrowest, best.withProducts(multiple)));
        }
        if (!broken.isEmpty()
                && candidates.stream().noneMatch(candidate -> candidate.plan().changes())) {
            throw broken.getFirst();
        }
        race.run(LAST_ROUNDS);
        return ranked().stream()
                .map(candidate -> new Tried(candidate.plan(), candidate.runner().milliseconds()))
                .toList();
    }

    /** {@return how long the original takes, in milliseconds} */
    double originalMilliseconds() {
        return original.milliseconds();
    }

    /** Those that help most often come first: there may be no time for all. */
    private static List<Widths> usual() {
        List<Widths> usual = new ArrayList<>();
        for (Selections selections : List.of(Selections.NONE, Selections.WORTHWHILE)) {
            usual.add(Widths.NARROWEST.withSelections(selections));
        }
        for (int multiple : MULTIPLES) {
            for (Selections selections : List.of(Selections.NONE, Selections.ALL, Selections.WORTHWHILE)) {
                usual.add(Widths.NARROWEST.withConvolutions(multiple).withSelections(selections));
            }
        }
        return usual;
    }

    private void tryOut(PrunePlan narrowest, Widths widths) {
        if (race.secondsLeft() > (1 - ENTRY) * timing.seconds()) {
            enter(narrowest.with(widths));
        }
    }

    /** Lets a model run, unless one of the same shape did. */
    private void enter(PrunePlan plan) {
        boolean uncut = !plan.changes() && !candidates.isEmpty();
        if (uncut || !shapes.add(shape(plan))) {
            return;
        }
        Graph smaller = whole.apply(plan.apply());
        OnnxRuntimeModel model;
        try {
            model = judge.load(smaller, plan.isExact());
        } catch (OptimizerException breaks) {
            broken.add(breaks);
            return;
        }
        loaded.add(model);
        candidates.add(new Candidate(plan, Cost.parameters(plan.apply()), race.enter(model)));
        race.run(FIRST_ROUNDS);
        race.drop(original).forEach(lost -> {
            loaded.remove(lost);
            lost.close();
        });
        timing.progress()
                .accept(String.format(
                        Locale.ROOT,
                        "Latency: tried %d widths, %.3g ms at best and %.3g ms before; %.0f s left at most",
                        shapes.size(),
                        ranked().getFirst().runner().milliseconds(),
                        original.milliseconds(),
                        Math.max(race.secondsLeft(), 0)));
    }

    private static List<Object> shape(PrunePlan plan) {
        List<Object> shape = new ArrayList<>(List.of(plan.apply().nodes().size()));
        for (LayerPlan layer : plan.layers()) {
            shape.add(layer.inputsAfter());
            shape.add(layer.outputsAfter());
        }
        return shape;
    }

    /** The smallest of those that are as fast as the fastest, and so on with the others. */
    private List<Candidate> ranked() {
        List<Candidate> left = new ArrayList<>(candidates);
        List<Candidate> ranked = new ArrayList<>();
        while (!left.isEmpty()) {
            double fastest = left.stream()
                    .mapToDouble(candidate -> candidate.runner().milliseconds())
                    .min()
                    .orElseThrow();
            Candidate best = left.stream()
                    .filter(candidate -> candidate.runner().milliseconds() <= asFast(fastest, original.milliseconds()))
                    .min(Comparator.comparingLong(Candidate::parameters))
                    .orElseThrow();
            ranked.add(best);
            left.remove(best);
        }
        return ranked;
    }

    /** What counts as fast as the fastest, in milliseconds: of a model that is over at once a tick is a good part, which only a gain pays for. */
    static double asFast(double fastest, double original) {
        double noSlower = Math.max(NOISE * original, original + SLOWER);
        return Math.max(NOISE * fastest, Math.min(fastest + TICK, noSlower));
    }

    @Override
    public void close() {
        race.close();
        loaded.forEach(OnnxRuntimeModel::close);
    }
}
