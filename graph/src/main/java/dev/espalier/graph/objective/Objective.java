package dev.espalier.graph.objective;

import dev.espalier.graph.Graph;
import dev.espalier.graph.GraphBuilder;
import dev.espalier.graph.Value;
import dev.espalier.graph.op.Elementwise;
import dev.espalier.graph.op.Elementwise.Unary.Function;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;

/**
 * What training makes small, and sums that a model is judged by: not computed here, but written down as nodes of a graph. Behind
 * a model they are what an engine trains, so that everything stays on its device and single numbers come out. By themselves
 * they judge what any other runtime put out.
 *
 * <pre>{@code
 * Objective squares = formula -> {
 *     Value error = formula.minus(formula.model("price"), formula.target("price", DataType.FLOAT32, "batch", 1));
 *     return Objective.terms(formula.mean(formula.square(error)));
 * };
 * }</pre>
 */
@FunctionalInterface
public interface Objective {
    /** The term that training makes small. */
    String LOSS = "loss";

    /** What the names of all that an objective adds to a model begin with. */
    String PREFIX = "objective/";

    /**
     * Writes it down.
     *
     * @param formula what it is written with
     * @return single numbers by name; {@link #LOSS} is one of them, the mean over the samples of a batch
     */
    SequencedMap<String, Value> write(Formula formula);

    /**
     * Terms with nothing but a loss.
     *
     * @param loss a single number
     * @return the terms, to be added to
     */
    static SequencedMap<String, Value> terms(Value loss) {
        SequencedMap<String, Value> terms = new LinkedHashMap<>();
        terms.put(LOSS, loss);
        return terms;
    }

    /**
     * The name of a target among the inputs of what {@link #behind} and {@link #alone} give.
     *
     * @param target a target's name
     * @return the input's name
     */
    static String input(String target) {
        return PREFIX + "target/" + target; // a column may be called as a term is
    }

    /**
     * The name of a term among the outputs of what {@link #behind} and {@link #alone} give.
     *
     * @param term a term's name
     * @return the output's name
     */
    static String output(String term) {
        return PREFIX + term;
    }

    /**
     * The terms among the outputs of a graph.
     *
     * @param <T> what the outputs are
     * @param outputs the outputs by name
     * @return those that are terms, by the terms' names
     */
    static <T> SequencedMap<String, T> terms(Map<String, T> outputs) {
        SequencedMap<String, T> terms = new LinkedHashMap<>();
        outputs.forEach((name, value) -> {
            if (name.startsWith(PREFIX)) {
                terms.put(name.substring(PREFIX.length()), value);
            }
        });
        return terms;
    }

    /**
     * The model with the objective behind it.
     *
     * @param model the model
     * @return a graph with the model's inputs, then the targets, to the terms; the model's own outputs are none of it
     */
    default Graph behind(Graph model) {
        return end(new Formula(GraphBuilder.from(model), model, false));
    }

    /**
     * The objective by itself.
     *
     * @param model whose outputs are judged
     * @return a graph from what the objective reads of the model, and the targets, to the terms
     */
    default Graph alone(Graph model) {
        return end(new Formula(new GraphBuilder("objective"), model, true));
    }

    /**
     * The terms that it has besides the loss.
     *
     * @param model whose outputs are judged
     * @return their names, in order
     */
    default List<String> sums(Graph model) {
        SequencedMap<String, String> outputs = new LinkedHashMap<>();
        alone(model).outputs().forEach(name -> outputs.put(name, name));
        return terms(outputs).keySet().stream()
                .filter(term -> !term.equals(LOSS))
                .toList();
    }

    private Graph end(Formula formula) {
        List<Value> outputs = new ArrayList<>();
        SequencedMap<String, Value> terms = write(formula);
        if (!terms.containsKey(LOSS)) {
            throw new IllegalArgumentException(
                    "the objective has the terms " + terms.keySet() + ": one must be " + LOSS);
        }
        terms.forEach((term, value) -> {
            if (value.shape().rank() != 0) {
                throw new IllegalArgumentException(
                        "the term %s is of the shape %s: it must be a single number, such as a mean or sum"
                                .formatted(term, value.shape()));
            }
            outputs.add(formula.builder().add(output(term), new Elementwise.Unary(Function.IDENTITY), value));
        });
        return formula.builder().outputs(outputs.toArray(Value[]::new));
    }
}
