package dev.espalier.cli;

import dev.espalier.graph.Cost;
import dev.espalier.graph.Graph;
import dev.espalier.graph.group.ModelGroups;
import dev.espalier.graph.model.HuggingFace;
import dev.espalier.graph.model.HuggingFace.Checkpoint;
import dev.espalier.graph.onnx.Dequantization;
import dev.espalier.graph.onnx.OnnxModel;
import dev.espalier.graph.onnx.OnnxReader;
import dev.espalier.runtime.RuntimeTypes;
import dev.espalier.train.journal.RunFolder;
import dev.espalier.train.run.SavedModel;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A model as it lies on disk: an ONNX file, the folder of a training run with a {@code model.onnx} in it, or the folder of a
 * BERT checkpoint from Hugging Face.
 *
 * @param graph the model
 * @param opset the version of ONNX's operators it was written with; 0 for a checkpoint
 * @param origin what wrote it
 * @param original the ONNX file that it was read from, and that computes the same; empty for a checkpoint
 * @param rounded the ONNX file that it was read from, if that rounds to int8 what flows through it, and so computes nearly the same
 * @param notes what a user should know of how it was read
 */
record ModelFile(
        Graph graph, int opset, String origin, Optional<Path> original, Optional<Path> rounded, List<String> notes) {
    /** What a training run calls its model. */
    static final String IN_RUN = "model.onnx";

    /** What a checkpoint from Hugging Face has. */
    private static final String CONFIG = "config.json";

    /** Where weights that a checkpoint lacks start from. */
    private static final long SEED = 1;

    static ModelFile read(Path path) throws IOException {
        requireSome(path);
        if (isRun(path)) {
            return read(path.resolve(IN_RUN));
        }
        if (Files.isDirectory(path)) {
            return readCheckpoint(path);
        }
        OnnxModel model = OnnxReader.read(path, new RuntimeTypes());
        boolean exact = model.dequantization().isExact();
        return new ModelFile(
                model.graph(),
                model.opset(),
                model.producer(),
                exact ? Optional.of(path) : Optional.empty(),
                exact ? Optional.empty() : Optional.of(path),
                notes(model));
    }

    /** The same file with other weights, which compute the same. */
    ModelFile with(Graph other) {
        return new ModelFile(other, opset, origin, original, rounded, notes);
    }

    private static List<String> notes(OnnxModel model) {
        Graph graph = model.graph();
        SortedMap<String, Integer> foreign = graph.foreign();
        List<String> notes = new ArrayList<>();
        if (!model.dequantization().equals(Dequantization.NONE)) {
            notes.add(model.dequantization().note());
        }
        if (!foreign.isEmpty()) {
            notes.add("kept as they are, so that the model can be pruned around them but not trained: "
                    + foreign.entrySet().stream()
                            .map(one -> one.getValue() + " × " + one.getKey())
                            .collect(Collectors.joining(", ")));
        }
        if (ModelGroups.of(graph).count() == 0) {
            boolean weights = Cost.parameters(graph) > 0;
            notes.add("no groups, so there is nothing to prune: "
                    + (weights
                            ? "no layer that is known here has a weight of its own"
                            : "there are no weights that could be trained")
                    + (foreign.isEmpty() ? "" : "; they are in what is kept as it is"));
        }
        return notes;
    }

    /** Refuses a path with no model, before anything is read. */
    static void requireSome(Path path) throws IOException {
        if (Files.notExists(path)) {
            throw new NoSuchFileException(path.toString());
        }
        if (Files.isDirectory(path) && !isRun(path) && Files.notExists(path.resolve(CONFIG))) {
            throw new IllegalArgumentException(whyNone(new RunFolder(path)));
        }
    }

    /** Why there is no model in a folder, and what to do. */
    private static String whyNone(RunFolder folder) throws IOException {
        List<RunFolder> parts = Stream.concat(
                        folder.sweep().stream(), folder.runs().stream().filter(run -> !run.equals(folder)))
                .toList();
        if (!parts.isEmpty()) {
            return "%s holds several runs: give one of %s"
                    .formatted(
                            folder.path(),
                            parts.stream().map(run -> run.path().toString()).collect(Collectors.joining(", ")));
        }
        if (Files.notExists(folder.recipe())) {
            return "%s is a folder with neither a %s, as a training run has one, nor a %s, as a BERT checkpoint from Hugging Face"
                    .formatted(folder.path(), IN_RUN, CONFIG);
        }
        List<Long> steps = SavedModel.steps(folder);
        return "%s is a run that is not finished: it has no %s. Go on with it by espalier train %s --run-dir %s --resume"
                        .formatted(folder.path(), IN_RUN, folder.recipe(), folder.path())
                + (steps.isEmpty()
                        ? ""
                        : ", or take the model as it is in a checkpoint: --checkpoint latest, or one of the steps "
                                + steps);
    }

    static boolean isRun(Path path) {
        return Files.isRegularFile(path.resolve(IN_RUN));
    }

    private static ModelFile readCheckpoint(Path folder) throws IOException {
        Checkpoint checkpoint = HuggingFace.read(folder, SEED);
        return new ModelFile(
                checkpoint.graph(),
                0,
                "Hugging Face",
                Optional.empty(),
                Optional.empty(),
                checkpoint.initialised().isEmpty()
                        ? List.of()
                        : List.of("not in the checkpoint, so initialised at random: "
                                + String.join(", ", checkpoint.initialised())));
    }
}
