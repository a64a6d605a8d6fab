package dev.espalier.train.run;

import dev.espalier.engine.Device;
import dev.espalier.engine.Network;
import dev.espalier.graph.Graph;
import dev.espalier.graph.objective.Objective;
import dev.espalier.graph.objective.Terms;
import dev.espalier.graph.type.Tensor;
import dev.espalier.train.task.Example;
import dev.espalier.train.task.RawInputs;
import dev.espalier.train.task.Task;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SequencedMap;
import java.util.function.Function;

/** A model that somebody else computes, such as ONNX Runtime, and a task's objective behind its outputs. */
public final class JudgedModel implements Task.Model, AutoCloseable {
    private final Graph judged;
    private final boolean raw;
    private final Network objective;
    private final Function<Map<String, Tensor>, SequencedMap<String, Tensor>> model;

    /**
     * A model.
     *
     * @param task by what it is judged
     * @param graph what is computed
     * @param model computes it: from inputs by name to outputs by name
     */
    public JudgedModel(Task task, Graph graph, Function<Map<String, Tensor>, SequencedMap<String, Tensor>> model) {
        this.raw = RawInputs.areIn(graph);
        this.judged = task.objective().alone(RawInputs.without(graph));
        this.objective = new Network(judged, Device.CPU);
        this.model = model;
    }

    @Override
    public Terms terms(Example example) {
        Map<String, Tensor> all = new HashMap<>(example.inputs());
        example.targets().forEach((name, target) -> all.put(Objective.input(name), target));
        all.putAll(predict(example.raw()));
        Map<String, Tensor> read = new LinkedHashMap<>();
        judged.inputs().forEach(input -> read.put(input.name(), all.get(input.name())));
        SequencedMap<String, Double> terms = new LinkedHashMap<>();
        Objective.terms(objective.predict(read)).forEach((name, term) -> terms.put(name, term.getDouble(0)));
        return new Terms(terms);
    }

    @Override
    public SequencedMap<String, Tensor> predict(Map<String, Tensor> inputs) {
        return model.apply(inputs);
    }

    @Override
    public boolean takesRaw() {
        return raw;
    }

    @Override
    public void close() {
        objective.close();
    }
}
