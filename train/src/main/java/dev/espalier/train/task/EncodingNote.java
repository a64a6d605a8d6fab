package dev.espalier.train.task;

import dev.espalier.data.Encoding;
import dev.espalier.graph.Graph;
import dev.espalier.graph.GraphException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * What was learned about data, as a note in a model: it is in the metadata of ONNX files, and stays when they are pruned or
 * converted. Whoever has rows and the file has all that it takes to ask the model.
 */
public final class EncodingNote {
    private static final String NOTE = "espalier.data";

    private EncodingNote() {}

    /**
     * Notes it.
     *
     * @param model the model
     * @param encoding how rows become its inputs and targets
     * @return the model with the note, which replaces an older one
     */
    public static Graph note(Graph model, Encoding encoding) {
        Map<String, String> metadata = new LinkedHashMap<>(model.metadata());
        metadata.put(NOTE, encoding.toJson());
        return model.withMetadata(metadata);
    }

    /**
     * Reads it.
     *
     * @param model a model
     * @return what was noted; empty if nothing was
     * @throws GraphException if the note cannot be understood
     */
    public static Optional<Encoding> of(Graph model) {
        String text = model.metadata().get(NOTE);
        try {
            return Optional.ofNullable(text).map(Encoding::parse);
        } catch (IllegalArgumentException unknown) {
            throw new GraphException(
                    "the model's metadata has %s = %s, which cannot be read (%s): remove it from the file"
                            .formatted(NOTE, text, unknown.getMessage()));
        }
    }
}
