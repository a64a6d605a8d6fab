package dev.espalier.train.task;

import dev.espalier.graph.objective.Terms;
import dev.espalier.graph.type.Tensor;
import java.util.Map;
import java.util.SequencedMap;
import java.util.function.BiConsumer;

/**
 * A model that is judged, and somebody who sees what it says. Nobody may ask it for more than sums.
 *
 * @param model the model
 * @param watcher is given every batch, and the model's first output
 */
record Watched(Task.Model model, BiConsumer<Example, Tensor> watcher) implements Task.Model {
    @Override
    public Terms terms(Example example) {
        watcher.accept(example, model.predict(example.raw()).firstEntry().getValue());
        return model.terms(example);
    }

    @Override
    public SequencedMap<String, Tensor> predict(Map<String, Tensor> inputs) {
        throw new AssertionError("sums are enough");
    }

    @Override
    public boolean takesRaw() {
        return model.takesRaw();
    }

    /** The first target. */
    static Tensor truth(Example example) {
        return example.targets().values().iterator().next();
    }
}
