package dev.espalier.graph.model;

import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.SequencedMap;
import java.util.SequencedSet;
import org.jspecify.annotations.Nullable;

/**
 * The weights of a checkpoint of the BERT family. What does not fit is noted, not thrown, so that all of it can be told
 * at once: until {@link #requireComplete} has passed, a model made from these weights has zeros in places.
 */
final class CheckpointWeights implements Weights {
    private static final String PREFIX = "bert.";
    /** What a checkpoint may lack: it is trained with the task. */
    private static final List<String> HEADS = List.of("qa_outputs.", "classifier.", "bert.pooler.");

    private final SequencedMap<String, Tensor> stored = new LinkedHashMap<>();
    private final SequencedMap<String, String> originalNames = new LinkedHashMap<>();
    private final SequencedSet<String> unread = new LinkedHashSet<>();
    private final List<String> initialised = new ArrayList<>();
    private final List<String> problems = new ArrayList<>();
    private final Weights fresh;

    CheckpointWeights(SequencedMap<String, Tensor> tensors, Weights fresh) {
        this.fresh = fresh;
        boolean prefixed = tensors.keySet().stream().anyMatch(name -> name.startsWith(PREFIX));
        tensors.forEach((original, tensor) -> {
            String name = canonical(original, prefixed);
            if (stored.putIfAbsent(name, tensor) == null) {
                originalNames.put(name, original);
                unread.add(name);
            } else {
                problems.add(original + ": a second tensor for " + name + ", beside " + originalNames.get(name));
            }
        });
    }

    /** Checkpoints of a bare encoder have no prefix; those made from TensorFlow's have other names for norms. */
    private static String canonical(String original, boolean prefixed) {
        String name = original;
        if (name.endsWith(".LayerNorm.gamma")) {
            name = name.substring(0, name.length() - "gamma".length()) + "weight";
        } else if (name.endsWith(".LayerNorm.beta")) {
            name = name.substring(0, name.length() - "beta".length()) + "bias";
        }
        boolean bare = name.startsWith("embeddings.") || name.startsWith("encoder.") || name.startsWith("pooler.");
        return bare && !prefixed ? PREFIX + name : name;
    }

    @Override
    public Tensor tensor(String name, Initialization initialization, long... shape) {
        Tensor found = find(name, shape);
        return found == null ? fallback(name, initialization, shape) : found.cast(DataType.FLOAT32);
    }

    @Override
    public Tensor matrix(String name, Initialization initialization, long inputs, long outputs) {
        Tensor found = find(name, outputs, inputs);
        return found == null ? fallback(name, initialization, inputs, outputs) : transpose(found);
    }

    private @Nullable Tensor find(String name, long... shape) {
        unread.remove(name);
        Tensor tensor = stored.get(name);
        if (tensor == null) {
            if (isHead(name)) {
                initialised.add(name);
            } else {
                problems.add(name + ": missing, it should be " + Arrays.toString(shape));
            }
            return null;
        }
        if (isHead(name) && !Arrays.equals(tensor.shape(), shape)) {
            initialised.add(name); // a head for other classes
            return null;
        }
        if (!tensor.type().isFloat() || !Arrays.equals(tensor.shape(), shape)) {
            problems.add(originalNames.get(name) + ": " + tensor.type() + Arrays.toString(tensor.shape())
                    + ", but it should be numbers with fractions of shape " + Arrays.toString(shape));
            return null;
        }
        return tensor;
    }

    private static boolean isHead(String name) {
        return HEADS.stream().anyMatch(name::startsWith);
    }

    private Tensor fallback(String name, Initialization initialization, long... shape) {
        return isHead(name)
                ? fresh.tensor(name, initialization, shape)
                : Tensor.compute(DataType.FLOAT32, shape, i -> 0);
    }

    /** From {@code [rows, columns]} to single precision numbers {@code [columns, rows]}. */
    static Tensor transpose(Tensor matrix) {
        long rows = matrix.shape()[0];
        long columns = matrix.shape()[1];
        return Tensor.compute(
                DataType.FLOAT32, new long[] {columns, rows}, i -> matrix.getDouble(i % rows * columns + i / rows));
    }

    /** Tells of everything that was missing or did not fit. */
    void requireComplete() throws IOException {
        if (!problems.isEmpty()) {
            throw new IOException("the checkpoint does not fit its config.json, %d problems:\n  %s"
                    .formatted(problems.size(), String.join("\n  ", problems)));
        }
    }

    /** The tensors that the checkpoint does not have and that were made anew. */
    List<String> initialised() {
        return List.copyOf(initialised);
    }

    /** The checkpoint's names of the tensors that nobody asked for. */
    List<String> ignored() {
        return unread.stream()
                .map(name -> originalNames.getOrDefault(name, name))
                .toList();
    }
}
