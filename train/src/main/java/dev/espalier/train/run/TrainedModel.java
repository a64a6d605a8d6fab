package dev.espalier.train.run;

import dev.espalier.engine.Network;
import dev.espalier.graph.objective.Terms;
import dev.espalier.graph.type.Tensor;
import dev.espalier.train.task.Example;
import dev.espalier.train.task.Task;
import java.util.Map;
import java.util.SequencedMap;

/**
 * A model where it is trained, as it is.
 *
 * @param network the model with the task's objective
 */
public record TrainedModel(Network network) implements Task.Model {
    @Override
    public Terms terms(Example example) {
        return network.terms(example.inputs(), example.targets());
    }

    @Override
    public SequencedMap<String, Tensor> predict(Map<String, Tensor> inputs) {
        return network.predict(inputs);
    }
}
