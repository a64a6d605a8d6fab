package dev.espalier.train.task;

import dev.espalier.graph.Graph;
import dev.espalier.graph.type.Tensor;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SequencedMap;
import java.util.function.Function;

/**
 * A model that fits a task, and what it calls the task's inputs and outputs.
 *
 * @param model the model, which takes batches of any size
 * @param inputs the model's names by the task's; a task's input that the model does not read is missing
 * @param outputs the model's names by the task's
 */
public record Fitted(Graph model, SequencedMap<String, String> inputs, SequencedMap<String, String> outputs) {
    /** Copies the maps. */
    public Fitted {
        inputs = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(inputs));
        outputs = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(outputs));
    }

    /**
     * What the model calls one of the task's outputs.
     *
     * @param name the task's name
     * @return the model's name
     */
    public String output(String name) {
        return found(name, outputs);
    }

    /**
     * What the model calls one of the task's inputs.
     *
     * @param name the task's name for an input that it requires
     * @return the model's name
     */
    public String input(String name) {
        return found(name, inputs);
    }

    private static String found(String name, Map<String, String> names) {
        String found = names.get(name);
        if (found == null) {
            throw new IllegalArgumentException("nothing is called " + name + ": there are " + names.keySet());
        }
        return found;
    }

    /**
     * A batch under the model's names, in its types: token ids of 32 bits for some.
     *
     * @param batch tensors by the task's names
     * @return those that the model reads
     */
    public SequencedMap<String, Tensor> feed(Map<String, Tensor> batch) {
        SequencedMap<String, Tensor> fed = new LinkedHashMap<>();
        inputs.forEach((task, name) -> {
            Tensor tensor = batch.get(task);
            if (tensor == null) {
                throw new IllegalArgumentException(
                        "the batch has %s, but the model also reads %s".formatted(batch.keySet(), task));
            }
            fed.put(name, tensor.cast(model.fact(name).data()));
        });
        return fed;
    }

    /**
     * What {@link #feed} was given.
     *
     * @param fed tensors by the model's names
     * @return the same by the task's names
     */
    public SequencedMap<String, Tensor> given(Map<String, Tensor> fed) {
        return renamed(fed, inputs);
    }

    /**
     * What the model says, as the task calls it.
     *
     * @param answer tensors by the model's names
     * @return those that the task asked for, by its names
     */
    public SequencedMap<String, Tensor> said(Map<String, Tensor> answer) {
        return renamed(answer, outputs);
    }

    private static SequencedMap<String, Tensor> renamed(Map<String, Tensor> tensors, Map<String, String> names) {
        SequencedMap<String, Tensor> renamed = new LinkedHashMap<>();
        names.forEach((task, name) -> {
            Tensor tensor = tensors.get(name);
            if (tensor == null) {
                throw new IllegalArgumentException("there are %s, but %s, which the model calls %s, is missing"
                        .formatted(tensors.keySet(), task, name));
            }
            renamed.put(task, tensor);
        });
        return renamed;
    }

    /**
     * The model as the task sees it.
     *
     * @param asked the model, asked by its own names
     * @return the same, asked by the task's names
     */
    public Function<Map<String, Tensor>, SequencedMap<String, Tensor>> named(
            Function<Map<String, Tensor>, ? extends Map<String, Tensor>> asked) {
        return batch -> said(asked.apply(feed(batch)));
    }
}
