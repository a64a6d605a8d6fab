package dev.espalier.train.task;

import dev.espalier.data.BatchPosition;
import dev.espalier.graph.Value;
import dev.espalier.graph.objective.Formula;
import dev.espalier.graph.objective.Losses;
import dev.espalier.graph.objective.Objective;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SequencedMap;
import java.util.function.Function;

/**
 * Any task, with a teacher: what the teacher says of a sample is one more target, and the model learns to say the same. Everything
 * else, the metrics above all, is the task's own.
 *
 * <p>How far two answers are from each other is the divergence of probabilities at a temperature where the task's
 * {@link Signature.Meaning} is classes or labels, and the mean square, in units of deviations, where it is quantities.
 */
public final class Distilled extends Derived {
    private static final String TEACHER = "teacher/";

    private final Function<Map<String, Tensor>, SequencedMap<String, Tensor>> teacher;
    private final double weight;
    private final double temperature;

    /**
     * A task with a teacher.
     *
     * @param task what is learned
     * @param teacher from inputs to outputs, all by the task's names; see {@link Fitted#named}
     * @param weight how much of the loss is the teacher's, from 0 to 1; the rest is the task's
     * @param temperature what logits are divided by before they are compared, above 0
     */
    public Distilled(
            Task task,
            Function<Map<String, Tensor>, SequencedMap<String, Tensor>> teacher,
            double weight,
            double temperature) {
        super(task);
        if (!(weight >= 0 && weight <= 1) || !(temperature > 0)) {
            throw new IllegalArgumentException("weight = %s and temperature = %s: they must be from 0 to 1, and above 0"
                    .formatted(weight, temperature));
        }
        this.teacher = teacher;
        this.weight = weight;
        this.temperature = temperature;
    }

    /** The loss is {@code (1 − weight) · task's + weight · distance to the teacher}. */
    @Override
    public Objective objective() {
        Objective own = task.objective();
        return formula -> {
            SequencedMap<String, Value> terms = new LinkedHashMap<>(own.write(formula));
            Value loss = formula.times(Objects.requireNonNull(terms.get(Objective.LOSS)), formula.number(1 - weight));
            List<Signature.Output> outputs = signature().outputs();
            for (Signature.Output output : outputs) {
                Value share = formula.number(weight / outputs.size());
                loss = formula.plus(loss, formula.times(distance(formula, output), share));
            }
            terms.put(Objective.LOSS, loss);
            return terms;
        };
    }

    private Value distance(Formula formula, Signature.Output output) {
        Value student = formula.model(fitted().output(output.name()));
        Value taught = formula.target(
                TEACHER + output.name(),
                DataType.FLOAT32,
                student.shape().dimensions().toArray());
        return switch (output.meaning()) {
            case Signature.Meaning.Classes _ -> Losses.divergence(formula, student, taught, temperature);
            case Signature.Meaning.Labels _ -> Losses.binaryDivergence(formula, student, taught, temperature);
            case Signature.Meaning.Quantities(var unit) -> {
                Value deviation = formula.constant(Signature.numbers(unit.deviation(), output.sample()));
                yield Losses.squares(formula, formula.divide(formula.minus(student, taught), deviation));
            }
        };
    }

    /**
     * Has the teacher look at an example.
     *
     * @param example the example
     * @return the same, with what the teacher says of it
     */
    public Example taught(Example example) {
        Map<String, Tensor> targets = new LinkedHashMap<>(example.targets());
        teacher.apply(fitted().given(example.inputs())).forEach((name, said) -> targets.put(TEACHER + name, said));
        return new Example(example.inputs(), targets, example.size(), example.raw());
    }

    @Override
    public Examples examples(long seed, BatchPosition first, long epochs) {
        Examples examples = task.examples(seed, first, epochs);
        return Examples.of(examples, examples::position, examples::close, this::taught);
    }

    @Override
    Example judged(Example example) {
        return taught(example);
    }
}
