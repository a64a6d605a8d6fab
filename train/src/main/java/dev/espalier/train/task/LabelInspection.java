package dev.espalier.train.task;

import dev.espalier.graph.type.Tensor;
import dev.espalier.train.journal.Findings;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.IntPredicate;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Counts labels that are there and labels that are said. The worst mistakes are those with the most wrong labels. */
final class LabelInspection implements Inspection {
    private final String output;
    private final String target;
    private final List<String> names;
    private final long[] trained;
    private final long[] tested;
    private final long[] said;
    private final long[] right;

    /**
     * An inspection.
     *
     * @param output the task's name for the logits
     * @param target the name of the labels
     * @param names what each label is called
     * @param trained how many samples of the training part have each
     */
    LabelInspection(String output, String target, List<String> names, long[] trained) {
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
        Tensor logits = Objects.requireNonNull(answer.get(output));
        Tensor labels = Objects.requireNonNull(targets.get(target));
        long first = (long) sample * names.size();
        boolean[] yes = new boolean[names.size()];
        boolean[] truth = new boolean[names.size()];
        int wrong = 0;
        double margin = 0;
        for (int i = 0; i < yes.length; i++) {
            double logit = logits.getDouble(first + i);
            yes[i] = logit > 0;
            truth[i] = labels.getDouble(first + i) != 0;
            said[i] += yes[i] ? 1 : 0;
            tested[i] += truth[i] ? 1 : 0;
            right[i] += yes[i] && truth[i] ? 1 : 0;
            if (yes[i] != truth[i]) {
                wrong++;
                margin = Math.max(margin, Math.abs(logit));
            }
        }
        if (wrong == 0) {
            return Optional.empty();
        }
        String note = String.format(Locale.ROOT, "%d of %d labels wrong", wrong, yes.length);
        // Among equally many, the more certain ones.
        return Optional.of(new Miss(
                wrong + Math.tanh(margin), () -> listed(i -> truth[i]), () -> listed(i -> yes[i]), () -> note));
    }

    private String listed(IntPredicate has) {
        String labels = IntStream.range(0, names.size())
                .filter(has)
                .mapToObj(names::get)
                .collect(Collectors.joining(", "));
        return labels.isEmpty() ? "none" : labels;
    }

    @Override
    public Findings.Outcome outcome() {
        List<Findings.Tally> labels = new ArrayList<>();
        for (int i = 0; i < names.size(); i++) {
            labels.add(new Findings.Tally(names.get(i), trained[i], tested[i], said[i], right[i]));
        }
        return new Findings.Outcome.Labels(labels);
    }
}
