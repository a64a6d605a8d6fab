package dev.espalier.data.array;

import dev.espalier.data.DataException;
import dev.espalier.graph.type.Tensor;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SequencedMap;

/** Arrays of NumPy as they are, for models that somebody else made. */
public final class NamedArrays {
    private NamedArrays() {}

    /**
     * Reads all arrays of a file.
     *
     * @param file an {@code .npz} file, or an {@code .npy} file, which holds one array
     * @return arrays by their names; that of an {@code .npy} file is called like the file, without its ending
     * @throws IOException if it cannot be read, or holds no arrays
     */
    public static SequencedMap<String, Tensor> read(Path file) throws IOException {
        if (Files.notExists(file)) {
            throw new NoSuchFileException(file.toString());
        }
        boolean one = file.toString().endsWith(NpyStore.ENDING);
        NpyStore store = new NpyStore(one ? parent(file) : file);
        SequencedMap<String, Tensor> arrays = new LinkedHashMap<>();
        List<String> names = one ? List.of(String.valueOf(file.getFileName())) : store.names();
        List<String> saved =
                names.stream().filter(name -> name.endsWith(NpyStore.ENDING)).toList();
        for (Map.Entry<String, NpyArray> array : store.read(saved).entrySet()) {
            array.getValue().requireFinite();
            arrays.put(
                    array.getKey().substring(0, array.getKey().length() - NpyStore.ENDING.length()),
                    array.getValue().tensor());
        }
        if (arrays.isEmpty()) {
            throw DataException.in(file, "no arrays there: save some with numpy.savez");
        }
        return arrays;
    }

    private static Path parent(Path file) {
        return Objects.requireNonNull(file.toAbsolutePath().getParent());
    }
}
