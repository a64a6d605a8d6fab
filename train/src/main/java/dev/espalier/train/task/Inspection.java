package dev.espalier.train.task;

import dev.espalier.graph.type.Tensor;
import dev.espalier.train.journal.Findings;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/** What a task notes of a model's answers, one sample of the test part after the other. It is used once. */
public interface Inspection {
    /**
     * Looks at a sample.
     *
     * @param said what the model says of a batch, by the task's names
     * @param targets what it should say, by name
     * @param sample which one of the batch
     * @return what is wrong; empty if nothing is
     */
    Optional<Miss> look(Map<String, Tensor> said, Map<String, Tensor> targets, int sample);

    /** {@return what was found, when all samples were looked at} */
    Findings.Outcome outcome();

    /**
     * A wrong answer. It is put into words only if it is among the worst.
     *
     * @param weight how wrong it is, for the order
     * @param truth what the model should have said
     * @param said what it says
     * @param note how wrong that is
     */
    record Miss(double weight, Supplier<String> truth, Supplier<String> said, Supplier<String> note) {}
}
