package dev.espalier.train.task;

import dev.espalier.data.Dataset;
import dev.espalier.graph.Graph;
import dev.espalier.graph.type.Tensor;
import dev.espalier.train.journal.Findings;
import dev.espalier.train.journal.Findings.Deviant;
import dev.espalier.train.journal.Findings.Mistake;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.stream.Stream;

/**
 * How faithful a smaller model is to its original, batch after batch. Of a batch, only numbers are kept that do not grow with the size of
 * an answer.
 *
 * <pre>{@code
 * Fidelity fidelity = Fidelity.of(original, Map.of());
 * fidelity.add(inputs, teacher.run(inputs), student.run(inputs), rows);
 * fidelity.outcome();
 * }</pre>
 */
public final class Fidelity {
    private final SequencedMap<String, OutputMeaning> meanings = new LinkedHashMap<>();
    private final SequencedMap<String, LikenessMeter> meters = new LinkedHashMap<>();
    private long rows;

    private Fidelity() {}

    /**
     * Nothing compared yet.
     *
     * @param original the model that another one is likened to
     * @param given what outputs mean, by name; what others mean is {@link OutputMeaning#guess guessed}
     * @return an empty comparison of all outputs
     * @throws IllegalArgumentException if the model has no such output
     */
    public static Fidelity of(Graph original, Map<String, OutputMeaning> given) {
        return of(original, original.outputs(), given);
    }

    /**
     * The same of some outputs only.
     *
     * @param original the model that another one is likened to
     * @param outputs those of its outputs that are compared
     * @param given what outputs mean, by name; what others mean is guessed
     * @return an empty comparison
     * @throws IllegalArgumentException if the model has no such output
     */
    public static Fidelity of(Graph original, Collection<String> outputs, Map<String, OutputMeaning> given) {
        for (String output :
                Stream.concat(outputs.stream(), given.keySet().stream()).toList()) {
            if (!original.outputs().contains(output)) {
                throw new IllegalArgumentException(
                        "the model has no output %s: it has %s".formatted(output, original.outputs()));
            }
        }
        Fidelity fidelity = new Fidelity();
        for (String output : outputs) {
            OutputMeaning meaning = given.get(output);
            if (meaning == null) {
                meaning = OutputMeaning.guess(original, output);
            }
            fidelity.meanings.put(output, meaning);
            fidelity.meters.put(output, new LikenessMeter(output, meaning, mask(original, output, meaning)));
        }
        return fidelity;
    }

    /** Padding is left out where there are positions: of tokens, and of tokens that are classified. */
    private static Optional<String> mask(Graph original, String output, OutputMeaning meaning) {
        return switch (meaning) {
            case OutputMeaning.Tokens(String maskInput) -> Optional.of(maskInput);
            case OutputMeaning.Classes _, OutputMeaning.Scores _ -> OutputMeaning.mask(original, output);
            case OutputMeaning.Embedding _, OutputMeaning.Numbers _ -> Optional.empty();
        };
    }

    /** {@return what each output was taken for} */
    public SequencedMap<String, OutputMeaning> meanings() {
        return Collections.unmodifiableSequencedMap(meanings);
    }

    /**
     * Compares two answers to a batch.
     *
     * @param inputs what was asked, by the original's names; only masks are read
     * @param original what the original says, by its names
     * @param smaller what the smaller model says, by the same names
     * @param size how many samples the batch has
     * @throws IllegalArgumentException if an output is missing, or is of another shape
     */
    public void add(Map<String, Tensor> inputs, Map<String, Tensor> original, Map<String, Tensor> smaller, int size) {
        meters.forEach((output, meter) -> meter.add(
                inputs, found(output, original, "original"), found(output, smaller, "smaller model"), size, rows));
        rows += size;
    }

    private static Tensor found(String output, Map<String, Tensor> said, String who) {
        Tensor tensor = said.get(output);
        if (tensor == null) {
            throw new IllegalArgumentException(
                    "the %s says %s, but not %s, which is to be compared".formatted(who, said.keySet(), output));
        }
        return tensor;
    }

    /** {@return how many samples were compared} */
    public long rows() {
        return rows;
    }

    /** {@return how alike they are so far} */
    public Findings.Outcome.Fidelity outcome() {
        return new Findings.Outcome.Fidelity(
                meters.values().stream().map(LikenessMeter::likeness).toList());
    }

    /**
     * The samples that differ most, with what there is to see of them: the worst of each output, then the second of each, and so on.
     *
     * @param part the rows that were compared, in the same order
     * @return each row once, no more than {@link Findings#MOST_MISTAKES}
     */
    public List<Mistake> worst(Dataset part) {
        List<Findings.Likeness> likenesses = outcome().outputs();
        SequencedMap<Long, Mistake> found = new LinkedHashMap<>();
        for (int place = 0; place < Findings.MOST_DEVIANTS; place++) {
            for (Findings.Likeness likeness : likenesses) {
                if (place < likeness.worst().size() && found.size() < Findings.MOST_MISTAKES) {
                    Deviant deviant = likeness.worst().get(place);
                    found.putIfAbsent(deviant.row(), mistake(part, likeness, deviant, likenesses.size() > 1));
                }
            }
        }
        return new ArrayList<>(found.values());
    }

    private static Mistake mistake(Dataset part, Findings.Likeness likeness, Deviant deviant, boolean several) {
        return new Mistake(
                deviant.row(),
                Mistakes.glimpses(part, Math.toIntExact(deviant.row() - 1)),
                deviant.original(),
                deviant.smaller(),
                String.format(
                        Locale.ROOT,
                        "%scosine %.4f, off by at most %s",
                        several ? likeness.output() + ": " : "",
                        deviant.cosine(),
                        Mistakes.number(deviant.difference())));
    }
}
