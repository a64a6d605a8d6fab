package dev.espalier.torture.file;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/**
 * A reader of files, and sound files for it. Targets are services: a reader that is added has a class and a line in {@code
 * META-INF/services}. One is used by one thread at a time.
 */
public interface Target {
    /** What a file is made of, and so what is changed in it besides bytes. */
    enum Structure {
        /** Bytes. */
        BYTES,
        /** Words, numbers, texts in quotes and brackets, perhaps with bytes around them: JSON, TOML, CSV. */
        TEXT,
        /** Fields of protobuf's wire format. */
        MESSAGE
    }

    /**
     * The most memory that a reader may allocate for a file.
     *
     * @param constant bytes, however small the file is
     * @param multiple bytes for each byte of the file
     */
    record Memory(long constant, long multiple) {
        /**
         * {@return the most bytes}
         *
         * @param file the length of the file
         */
        public long most(long file) {
            return constant + multiple * file;
        }
    }

    /** {@return what it is called on the command line and in reports} */
    String name();

    /** {@return what its files are made of} */
    Structure structure();

    /**
     * {@return sound files, small ones}
     *
     * @param folder an empty folder, to write in
     * @throws IOException if they cannot be made
     */
    List<byte[]> seeds(Path folder) throws IOException;

    /** {@return words that files of this format have, to be put where others stood} */
    default List<String> words() {
        return List.of();
    }

    /** {@return how much of the time it gets: 1 for a reader of one thing, more for one of many} */
    default int share() {
        return 1;
    }

    /** {@return the most memory that reading may take} */
    default Memory memory() {
        return new Memory(16L << 20, 200);
    }

    /**
     * Puts right what a reader checks first, sums and lengths, so that it goes on to the rest.
     *
     * @param file a changed file
     * @return the same with right sums; the file itself if it has none, or is too broken
     */
    default byte[] mend(byte[] file) {
        return file;
    }

    /**
     * Puts what never changes into a folder.
     *
     * @param folder the folder that {@link #read} gets; nothing outside of it may be read or written
     * @throws IOException if that fails
     */
    default void prepare(Path folder) throws IOException {}

    /**
     * Reads a file as a command would.
     *
     * @param folder where to put it
     * @param file its contents
     * @throws IOException if it is refused
     */
    void read(Path folder, byte[] file) throws IOException;
}
