package dev.espalier.train.journal;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.List;

/**
 * How faithful a smaller model is to its original, and what it saves.
 *
 * @param original the original's file
 * @param smaller the smaller model's file
 * @param inputs what they were compared on
 * @param sample the shapes of one sample, which operations and latencies are of
 * @param threads on how many threads ONNX Runtime ran for {@link Footprint#threadedMilliseconds}
 * @param before what the original costs
 * @param after what the smaller model costs
 * @param findings how alike their answers are, and the samples for which they differ most
 * @param notes what else to know, a sentence each
 */
public record Comparison(
        String original,
        String smaller,
        String inputs,
        String sample,
        int threads,
        Footprint before,
        Footprint after,
        Findings findings,
        List<String> notes) {
    /** Copies the list. */
    public Comparison {
        notes = List.copyOf(notes);
    }

    /** {@return how alike the answers are, output by output} */
    @JsonIgnore
    public List<Findings.Likeness> likenesses() {
        return findings.outcome() instanceof Findings.Outcome.Fidelity(List<Findings.Likeness> outputs)
                ? outputs
                : List.of();
    }

    /** {@return a sentence on what makes the smaller model unfit to stand in for its original; empty if it is fit} */
    @JsonProperty(access = JsonProperty.Access.READ_ONLY)
    public String warning() {
        return findings.outcome() instanceof Findings.Outcome.Fidelity fidelity
                ? fidelity.warning().orElse("")
                : "";
    }

    /** {@return all of it but pictures as JSON, for programs and people} */
    public String toJson() {
        List<Findings.Mistake> readable = findings.mistakes().stream()
                .map(mistake -> new Findings.Mistake(
                        mistake.row(),
                        mistake.inputs().stream()
                                .filter(Findings.Glimpse.Words.class::isInstance)
                                .toList(),
                        mistake.truth(),
                        mistake.said(),
                        mistake.note()))
                .toList();
        Findings words = new Findings(findings.samples(), findings.outcome(), readable);
        return Json.pretty(new Comparison(original, smaller, inputs, sample, threads, before, after, words, notes));
    }
}
