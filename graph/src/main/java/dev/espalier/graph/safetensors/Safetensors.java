package dev.espalier.graph.safetensors;

import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SequencedMap;

/**
 * What a safetensors file holds: tensors by name, and remarks.
 *
 * <p>Layout: the length of the header (8 bytes, little-endian); the header, a JSON object with, for each tensor, its
 * {@code dtype}, {@code shape} and {@code data_offsets}, and remarks under {@code __metadata__}; then the bytes of all
 * tensors without a gap.
 *
 * @param tensors the tensors by name, in the order of the header
 * @param metadata remarks by name
 */
public record Safetensors(SequencedMap<String, Tensor> tensors, SequencedMap<String, String> metadata) {

    /** Takes copies. */
    public Safetensors {
        tensors = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(tensors));
        metadata = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(metadata));
    }

    /**
     * Maps a file into memory. Its header is checked in full; the tensors' bytes are read when they are looked at, so the
     * file must stay as it is while a tensor is in use. Replacing it by {@link #write} is safe: mapped memory keeps the
     * old contents.
     *
     * @param file the file
     * @return its tensors and remarks
     * @throws IOException if it cannot be read, or is no sound safetensors file; the message names the tensor
     */
    public static Safetensors read(Path file) throws IOException {
        return SafetensorsReader.read(file);
    }

    /**
     * Writes tensors to a file, atomically: a reader sees the old file or the new one, whole. The same tensors and remarks
     * make the same bytes, in whatever order they are given.
     *
     * @param file the file; replaced if it exists
     * @param tensors the tensors by name
     * @param metadata remarks by name
     * @throws IOException if it cannot be written
     */
    public static void write(Path file, Map<String, Tensor> tensors, Map<String, String> metadata) throws IOException {
        SafetensorsWriter.write(file, tensors, metadata);
    }

    /**
     * Tensors with their fractions stored otherwise, to halve a file: whole numbers and truth values stay as they are.
     *
     * @param tensors the tensors by name
     * @param to how to store numbers with fractions, {@link DataType#FLOAT16} for one
     * @return the tensors by name, in the same order
     */
    public static SequencedMap<String, Tensor> cast(SequencedMap<String, Tensor> tensors, DataType to) {
        if (!to.isFloat()) {
            throw new IllegalArgumentException(
                    "numbers with fractions cannot be stored as " + to + ": give one of the floating point types");
        }
        SequencedMap<String, Tensor> cast = new LinkedHashMap<>();
        tensors.forEach((name, tensor) -> cast.put(name, tensor.type().isFloat() ? tensor.cast(to) : tensor));
        return cast;
    }
}
