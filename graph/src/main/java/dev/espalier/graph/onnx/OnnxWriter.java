package dev.espalier.graph.onnx;

import ai.onnx.proto.OnnxMl.ModelProto;
import dev.espalier.core.check.Writing;
import dev.espalier.graph.Graph;
import dev.espalier.graph.GraphException;
import dev.espalier.graph.Node;
import dev.espalier.graph.op.Foreign;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Writes graphs as ONNX models. The same graph gives the same bytes. Parameters and buffers become initializers, constants
 * become {@code Constant} nodes: so a model that is read back has the same kinds of tensors.
 *
 * <p>A file appears under its name only once it is complete. If anything goes wrong before, what was there stays.
 */
public final class OnnxWriter {
    /** The name that is written as the producer's. */
    static final String PRODUCER = "espalier";

    private OnnxWriter() {}

    /**
     * How a model is written.
     *
     * @param opset the version of the operators, 13 to 24; 0 for {@value #USUAL_OPSET}, or what the operators need if that is
     *     more; where operators are kept as their file has them, for what those are written in
     * @param externalData true to store large tensors in a second file, {@code NAME.onnx.data}; without being asked that is
     *     done only where one file would exceed protobuf's 2 GiB
     * @param metadata notes to store in the file, besides those of the graph
     */
    public record Options(int opset, boolean externalData, SortedMap<String, String> metadata) {
        /** The oldest version of the operators that is written. */
        public static final int LEAST_OPSET = Opsets.LEAST;

        /** The version of the operators that is written where nothing else is asked for. */
        public static final int USUAL_OPSET = 17;

        /** One file, in the usual version of the operators. */
        public static final Options DEFAULT = new Options(0, false, Collections.emptySortedMap());

        /** Checks the version. */
        public Options {
            if (opset != 0 && (opset < Opsets.LEAST || opset > Opsets.MOST)) {
                throw new IllegalArgumentException(
                        "opset %d is out of range: it must be in [%d, %d], or 0 for what the operators need"
                                .formatted(opset, Opsets.LEAST, Opsets.MOST));
            }
            metadata = Collections.unmodifiableSortedMap(new TreeMap<>(metadata));
        }

        /**
         * {@return the same with another version of the operators}
         *
         * @param other the version, 13 to 24
         */
        public Options withOpset(int other) {
            return new Options(other, externalData, metadata);
        }

        /** {@return the same with large tensors in a second file} */
        public Options withExternalData() {
            return new Options(opset, true, metadata);
        }

        /**
         * {@return the same with other notes besides those of the graph}
         *
         * @param other the notes; they replace what the graph has under the same keys
         */
        public Options withMetadata(Map<String, String> other) {
            return new Options(opset, externalData, new TreeMap<>(other));
        }
    }

    /**
     * {@return the oldest version of the operators that can express a graph}
     *
     * @param graph the graph
     */
    public static int leastOpset(Graph graph) {
        return graph.nodes().stream()
                .map(Node::operator)
                .mapToInt(operator -> operator instanceof Foreign foreign
                        ? Boxes.leastOpset(foreign)
                        : OperatorTable.of(operator).leastOpset(operator))
                .reduce(Opsets.LEAST, Math::max);
    }

    /**
     * Writes a graph as one file.
     *
     * @param graph the graph
     * @param path the file; replaced if it exists
     * @throws IOException if it cannot be written
     */
    public static void write(Graph graph, Path path) throws IOException {
        write(graph, path, Options.DEFAULT);
    }

    /**
     * Writes a graph.
     *
     * @param graph the graph
     * @param path the file; replaced if it exists
     * @param options how
     * @throws IOException if it cannot be written
     * @throws GraphException if the wanted version of the operators cannot express it
     */
    public static void write(Graph graph, Path path, Options options) throws IOException {
        Path file = path.toAbsolutePath();
        Path name = file.getFileName();
        if (name == null || Files.isDirectory(file)) {
            throw new IOException(path + " is no file that could be written");
        }
        ExternalStore store =
                new ExternalStore(name + ".data", options.externalData() || ExternalStore.isNeeded(graph));
        ModelProto model = new GraphWriter(graph, options, store).write();
        Writing.to(path, () -> write(model, store, file));
    }

    /**
     * Removes what writers left beside a file that were killed. Nobody may be writing it.
     *
     * @param path the file; it may not be there, but its folder must be
     * @throws IOException if something cannot be removed
     */
    public static void removeRemains(Path path) throws IOException {
        Replacement.removeRemains(path);
    }

    private static void write(ModelProto model, ExternalStore store, Path file) throws IOException {
        try (Replacement replacement = new Replacement(file.resolveSibling(store.location()), file)) {
            if (!store.isEmpty()) {
                try (OutputStream data = stream(replacement.first())) {
                    store.write(data);
                }
            }
            try (OutputStream output = stream(replacement.second())) {
                model.writeTo(output);
            }
            replacement.commit(!store.isEmpty());
        }
    }

    /**
     * The bytes of a model without external data.
     *
     * @param graph the graph
     * @param options how; external data is not possible here
     * @return what would be in the file
     * @throws GraphException if the wanted version of the operators cannot express it, or if it exceeds 2 GiB
     */
    public static byte[] toBytes(Graph graph, Options options) {
        if (options.externalData() || ExternalStore.isNeeded(graph)) {
            throw new GraphException("a model with external data needs two files: write it to a path");
        }
        return new GraphWriter(graph, options, new ExternalStore("", false))
                .write()
                .toByteArray();
    }

    private static OutputStream stream(Path path) throws IOException {
        return new BufferedOutputStream(Files.newOutputStream(path), 1 << 16);
    }
}
