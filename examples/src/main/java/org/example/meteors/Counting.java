package org.example.meteors;

import dev.espalier.data.Field;
import dev.espalier.data.LoadedData;
import dev.espalier.graph.Value;
import dev.espalier.graph.objective.Objective;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Shape;
import dev.espalier.settings.Values;
import dev.espalier.train.journal.Metric;
import dev.espalier.train.task.Materials;
import dev.espalier.train.task.RowTask;
import dev.espalier.train.task.Signature;
import dev.espalier.train.task.Sums;
import dev.espalier.train.task.Task;
import dev.espalier.train.task.TaskKind;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.SequencedMap;

/**
 * How often does it happen? The model says the logarithm of a rate r for each sample, and the loss is that of Poisson's distribution
 * for a count k, up to what does not depend on the model: {@code r − k ln r}.
 */
public final class Counting extends RowTask {
    private static final Metric ERROR = new Metric("mean_error", Metric.Unit.LABEL, Metric.Direction.LOWER);
    private static final String COUNT = "seen";

    private Counting(Materials materials) throws IOException {
        super(materials, signature(materials.data()));
    }

    private static Signature signature(LoadedData data) {
        return new Signature(
                data.train().name(),
                Signature.inputsOf(data.inputs()),
                List.of(new Signature.Output("log_rate", Shape.of(1), Signature.Meaning.numbers(1))));
    }

    @Override
    public List<Metric> metrics() {
        return List.of(ERROR);
    }

    @Override
    public Objective objective() {
        return formula -> {
            Value logarithm = formula.model(fitted().output("log_rate"));
            Value count = formula.target(COUNT, DataType.FLOAT32, "batch", 1);
            Value rate = formula.exponential(logarithm);
            SequencedMap<String, Value> terms =
                    Objective.terms(formula.mean(formula.minus(rate, formula.times(count, logarithm))));
            terms.put("error", formula.sum(formula.absolute(formula.minus(rate, count))));
            return terms;
        };
    }

    @Override
    public SequencedMap<Metric, Double> score(Sums sums) {
        return new LinkedHashMap<>(Map.of(ERROR, sums.mean("error")));
    }

    @Override
    public OptionalDouble baseline() {
        return OptionalDouble.empty();
    }

    /** {@code task.kind = "counting"}. */
    public static final class Kind implements TaskKind {
        /** Called by the service loader. */
        public Kind() {}

        @Override
        public String name() {
            return "counting";
        }

        @Override
        public String meaning() {
            return "how often does it happen?";
        }

        @Override
        public Task open(Values values, Materials materials) throws IOException {
            List<Field> targets = materials.data().targets();
            if (!targets.equals(List.of(new Field.Numbers(COUNT, List.of(1))))) {
                throw new IllegalArgumentException(
                        "task.kind = counting needs one count, %s, but the data has %s".formatted(COUNT, targets));
            }
            return new Counting(materials);
        }
    }
}
