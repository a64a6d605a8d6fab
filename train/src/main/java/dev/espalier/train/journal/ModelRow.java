package dev.espalier.train.journal;

import com.fasterxml.jackson.annotation.JsonIgnore;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * A model in a table of models that stand in for the same original, or the original itself.
 *
 * @param model the name in the table: {@code original}, {@code small} or {@code int8}
 * @param file its file
 * @param fidelities how faithful it is to the original on the test part, output by output; none if the task compares with no original
 * @param warning a sentence on what makes it unfit to stand in for the original; empty if it is fit
 * @param cost what it costs for {@code samples} samples
 * @param samples how many samples operations and latency are of: 1, unless the original takes only larger batches
 */
public record ModelRow(
        String model, String file, List<OutputFidelity> fidelities, String warning, Footprint cost, long samples) {
    /** The row of the original. */
    public static final String ORIGINAL = "original";

    /** The row of the pruned model. */
    public static final String SMALL = "small";

    /** The row of the pruned model with weights of eight bits. */
    public static final String INT8 = "int8";

    /** Copies the list. */
    public ModelRow {
        Objects.requireNonNull(cost, "a model without its cost");
        fidelities = List.copyOf(fidelities);
    }

    /** {@return the output with the least skill; empty if no output was compared} */
    @JsonIgnore
    public Optional<OutputFidelity> weakest() {
        return fidelities.stream()
                .min(Comparator.comparingDouble(fidelity -> fidelity.figure().skill()));
    }
}
