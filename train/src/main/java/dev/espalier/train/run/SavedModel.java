package dev.espalier.train.run;

import dev.espalier.core.step.StateFile;
import dev.espalier.graph.Graph;
import dev.espalier.graph.Initializer;
import dev.espalier.graph.model.Weights;
import dev.espalier.graph.pass.SinglePrecision;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import dev.espalier.train.journal.RunFolder;
import dev.espalier.train.recipe.Recipe;
import dev.espalier.train.task.RawInputs;
import dev.espalier.train.task.Task;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;

/** The model in a checkpoint of a run: as it was before the run's end, which there may not be yet. */
public final class SavedModel {
    /** What {@link Session#state} puts before the names of a network's tensors. */
    private static final String TENSOR = "network/tensor/";

    private SavedModel() {}

    /**
     * The steps of which a run has checkpoints.
     *
     * @param run the run's folder
     * @return numbers of steps, rising
     * @throws IOException if the folder cannot be read
     */
    public static List<Long> steps(RunFolder run) throws IOException {
        return new Checkpoints(run.checkpoints(), 1).steps();
    }

    /**
     * Reads a model. The recipe's data or checkpoint must be where the recipe says, for they decide the model's shape.
     *
     * @param run the run's folder
     * @param step one of {@link #steps}
     * @return the model after that step, as a run's end would deliver it: it takes {@link RawInputs}
     * @throws IOException if something cannot be read
     * @throws IllegalArgumentException if there is no such checkpoint; the message says which there are
     */
    public static Graph read(RunFolder run, long step) throws IOException {
        List<Long> steps = steps(run);
        if (!steps.contains(step)) {
            throw new IllegalArgumentException("%s has no checkpoint of step %d: %s"
                    .formatted(
                            run.path(),
                            step,
                            steps.isEmpty()
                                    ? "it has none at all"
                                    : "there are those of steps " + steps
                                            + "; how many stay is checkpoint.keep of the recipe"));
        }
        Recipe recipe = Recipe.read(run.recipe(), List.of());
        Task task = Tasks.of(recipe);
        Graph graph = task.model(Weights.seeded(recipe.training().seeds().getFirst()));
        Path file = new Checkpoints(run.checkpoints(), 1).file(step);
        return RawInputs.of(task, withWeights(graph, file, StateFile.read(file, name -> name.startsWith(TENSOR))));
    }

    private static Graph withWeights(Graph graph, Path file, SequencedMap<String, MemorySegment> saved) {
        Map<String, Tensor> tensors = new HashMap<>();
        saved.forEach((name, memory) -> {
            Initializer old = graph.initializers().get(name.substring(TENSOR.length()));
            // Weights of half precision are trained, and saved, in single precision.
            DataType type = old == null
                    ? DataType.FLOAT32
                    : SinglePrecision.of(old.tensor().type());
            if (old == null || old.tensor().size() * type.bytes() != memory.byteSize()) {
                throw new IllegalArgumentException(
                        "%s holds %s, and the recipe's model does not, or in another size: the data or the checkpoint that the"
                                        .formatted(file, name.substring(TENSOR.length()))
                                + " recipe names are not those that the run was begun with");
            }
            tensors.put(
                    name.substring(TENSOR.length()),
                    Tensor.of(type, old.tensor().shape(), memory)
                            .cast(old.tensor().type()));
        });
        return graph.withTensors(tensors);
    }
}
