package dev.espalier.train.study;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.stream.Collectors;

/**
 * Files that all machines of a study share, by names such as {@code lambda-1e-3/seed-1/result.json}, relative to a root. This is all that a
 * study asks of a file system; object stores have it too.
 */
public interface Storage {

    /**
     * Copies a file from here.
     *
     * @param name its name
     * @param to where to; its folder is made
     * @return false if there is none
     * @throws IOException if it cannot be read or written
     */
    boolean fetch(String name, Path to) throws IOException;

    /**
     * Copies a file to here, so that whoever looks finds the one before or this one, whole.
     *
     * @param from the file
     * @param name its name here; replaced if it is there
     * @throws IOException if it cannot be read or written; then the one before is still there
     */
    void store(Path from, String name) throws IOException;

    /**
     * Gives a file another name.
     *
     * @param name what it is called
     * @param other what it is called from now on; replaced if it is there
     * @throws IOException if it cannot
     */
    void rename(String name, String other) throws IOException;

    /**
     * The files in a folder and below it.
     *
     * @param folder its name; empty for all
     * @return their names, relative to the root, sorted; none if there is no such folder
     * @throws IOException if it cannot be read
     */
    List<String> list(String folder) throws IOException;

    /**
     * Deletes a file, or a folder with all that is in it.
     *
     * @param name its name; it may not be there
     * @throws IOException if it cannot be deleted
     */
    void delete(String name) throws IOException;

    /**
     * What a file is known by: two that have the same are the same, byte for byte.
     *
     * @param name its name
     * @return a checksum that the file system keeps, or the SHA-256 of the contents
     * @throws IOException if it cannot be read
     */
    String checksum(String name) throws IOException;

    /**
     * Whether there is a file.
     *
     * @param name its name
     * @return false for a folder
     * @throws IOException if that cannot be found out
     */
    boolean exists(String name) throws IOException;

    /**
     * Reads a text.
     *
     * @param name the file's name
     * @return the text; empty if there is no such file
     * @throws IOException if it cannot be read
     */
    default Optional<String> read(String name) throws IOException {
        Path copy = Files.createTempFile("espalier", ".txt");
        try {
            return fetch(name, copy) ? Optional.of(Files.readString(copy)) : Optional.empty();
        } finally {
            Files.deleteIfExists(copy);
        }
    }

    /**
     * Writes a text, as {@link #store} does.
     *
     * @param name the file's name
     * @param text the text
     * @throws IOException if it cannot be written
     */
    default void write(String name, String text) throws IOException {
        Path copy = Files.createTempFile("espalier", ".txt");
        try {
            Files.write(copy, text.getBytes(StandardCharsets.UTF_8));
            store(copy, name);
        } finally {
            Files.deleteIfExists(copy);
        }
    }

    /** Who knows file systems: a service, so that Hadoop's client is on the class path only where it is wanted. */
    interface Provider {
        /**
         * {@return whether it knows a scheme}
         *
         * @param scheme such as {@code hdfs}
         */
        boolean knows(String scheme);

        /**
         * Opens a folder.
         *
         * @param uri the folder
         * @return its files
         * @throws IOException if the file system cannot be reached
         */
        Storage open(String uri) throws IOException;
    }

    /**
     * {@return the scheme of a URI; empty for a path}
     *
     * @param root a path or a URI
     */
    static Optional<String> scheme(String root) {
        int colon = root.indexOf(':');
        return colon > 1 && root.substring(0, colon).matches("[a-z][a-z0-9+.-]*")
                ? Optional.of(root.substring(0, colon))
                : Optional.empty();
    }

    /**
     * The folder that a root names on this machine.
     *
     * @param root a path, or a {@code file:} URI
     * @return the folder; empty if it is not on this machine
     */
    static Optional<Path> local(String root) {
        Optional<String> scheme = scheme(root);
        return scheme.isEmpty()
                ? Optional.of(Path.of(root))
                : scheme.get().equals("file")
                        ? Optional.of(Path.of(root.substring("file:".length()).replaceFirst("^//+", "/")))
                        : Optional.empty();
    }

    /**
     * Opens a folder.
     *
     * @param root a path, or a URI
     * @return its files
     * @throws IOException if the file system cannot be reached
     * @throws IllegalArgumentException if nobody knows such URIs
     */
    static Storage of(String root) throws IOException {
        Optional<Path> here = local(root);
        if (here.isPresent()) {
            return new FolderStorage(here.get());
        }
        String scheme = scheme(root).orElseThrow();
        for (Provider provider : ServiceLoader.load(Provider.class)) {
            if (provider.knows(scheme)) {
                return provider.open(root);
            }
        }
        throw new IllegalArgumentException(
                "%s: nobody here can read %s: URIs; run on Spark (--on …), which brings Hadoop's client, or give a folder of this machine"
                        .formatted(root, scheme));
    }

    /**
     * {@return names joined to one}
     *
     * @param parts parts, some of which may be empty
     */
    static String path(String... parts) {
        return List.of(parts).stream().filter(part -> !part.isEmpty()).collect(Collectors.joining("/"));
    }
}
