package dev.espalier.train.task;

import dev.espalier.graph.eval.Logits;
import dev.espalier.graph.type.Tensor;
import dev.espalier.train.journal.Findings;
import dev.espalier.train.journal.Findings.Confusion;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/** Counts which classes are taken for which. The worst mistakes are those that a model is most certain of. */
final class ClassInspection implements Inspection {
    private final String output;
    private final String target;
    private final List<String> names;
    private final int[] trained;
    private final long[] tested;
    private final long[] said;
    private final long[] right;

    /** By the truth and what was said, where they differ. */
    private final Map<List<Integer>, Long> confusions = new HashMap<>();

    /**
     * An inspection.
     *
     * @param output the task's name for the logits
     * @param target the name of the labels
     * @param names the classes
     * @param trained how many samples of the training part are of each
     */
    ClassInspection(String output, String target, List<String> names, int[] trained) {
        this.output = output;
        this.target = target;
        this.names = names;
        this.trained = trained;
        this.tested = new long[names.size()];
        this.said = new long[names.size()];
        this.right = new long[names.size()];
    }

    @Override
    public Optional<Miss> look(Map<String, Tensor> answer, Map<String, Tensor> targets, int sample) {
        Logits logits =
                new Logits(Objects.requireNonNull(answer.get(output)), (long) sample * names.size(), names.size());
        int truth = (int) Objects.requireNonNull(targets.get(target)).getLong(sample);
        int likeliest = logits.largest();
        tested[truth]++;
        said[likeliest]++;
        if (likeliest == truth) {
            right[truth]++;
            return Optional.empty();
        }
        confusions.merge(List.of(truth, likeliest), 1L, Long::sum);
        double sure = Math.exp(-logits.crossEntropy(likeliest));
        double other = Math.exp(-logits.crossEntropy(truth));
        return Optional.of(new Miss(
                sure,
                () -> names.get(truth),
                () -> names.get(likeliest),
                () -> String.format(
                        Locale.ROOT, "%.1f %% sure, and %.1f %% of %s", 100 * sure, 100 * other, names.get(truth))));
    }

    @Override
    public Findings.Outcome outcome() {
        List<Findings.Tally> classes = new ArrayList<>();
        for (int i = 0; i < names.size(); i++) {
            classes.add(new Findings.Tally(names.get(i), trained[i], tested[i], said[i], right[i]));
        }
        List<Confusion> pairs = confusions.entrySet().stream()
                .map(entry ->
                        new Confusion(entry.getKey().get(0), entry.getKey().get(1), entry.getValue()))
                .sorted(Comparator.comparingLong(Confusion::count)
                        .reversed()
                        .thenComparingInt(Confusion::truth)
                        .thenComparingInt(Confusion::said))
                .limit(Findings.MOST_CONFUSIONS)
                .toList();
        return new Findings.Outcome.Classes(classes, pairs);
    }
}
