package dev.espalier.torture.file.reader;

import dev.espalier.torture.file.Target;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;

/** What readers of one file have in common. */
abstract class SingleFile implements Target {
    private final String name;
    private final Structure structure;
    private final String fileName;

    SingleFile(String name, Structure structure, String fileName) {
        this.name = name;
        this.structure = structure;
        this.fileName = fileName;
    }

    @Override
    public final String name() {
        return name;
    }

    @Override
    public final Structure structure() {
        return structure;
    }

    @Override
    public final void read(Path folder, byte[] file) throws IOException {
        Path path = folder.resolve(fileName);
        // Another file, not other contents: somebody may still have the old one mapped.
        Files.deleteIfExists(path);
        Files.write(path, file);
        read(path);
    }

    /** Reads the file as a command would. */
    abstract void read(Path file) throws IOException;

    /** Looks at something that was read: it must be there. */
    static void look(Object read) {
        Objects.requireNonNull(read);
    }

    static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
