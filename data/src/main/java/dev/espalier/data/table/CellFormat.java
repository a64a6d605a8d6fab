package dev.espalier.data.table;

import java.nio.file.Path;
import java.util.Optional;
import java.util.ServiceLoader;

/**
 * A format of tables that takes a library, which programs need not have on their class path. Formats are services: {@code
 * META-INF/services/dev.espalier.data.table.CellFormat} names them.
 */
public interface CellFormat {
    /**
     * Whether it reads a file.
     *
     * @param file the file, by its name
     * @return whether the ending is that of the format
     */
    boolean reads(Path file);

    /**
     * Opens a file.
     *
     * @param file one that it reads
     * @return the file's rows
     */
    CellFile open(Path file);

    /**
     * Opens a file with whatever format there is for it.
     *
     * @param file the file
     * @return its rows; empty if nobody reads such files
     */
    static Optional<CellFile> find(Path file) {
        return ServiceLoader.load(CellFormat.class).stream()
                .map(ServiceLoader.Provider::get)
                .filter(format -> format.reads(file))
                .findFirst()
                .map(format -> format.open(file));
    }
}
