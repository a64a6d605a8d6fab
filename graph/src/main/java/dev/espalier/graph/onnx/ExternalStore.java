package dev.espalier.graph.onnx;

import ai.onnx.proto.OnnxMl.TensorProto;
import dev.espalier.graph.Graph;
import dev.espalier.graph.Initializer;
import dev.espalier.graph.type.Tensor;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;

/** The second file of a model, with the contents of its large tensors one behind the other. */
final class ExternalStore {
    /** Smaller tensors stay in the model. */
    private static final long LEAST_BYTES = 1024;
    /** The size of a page, so that a tensor can be mapped on its own. */
    private static final long ALIGNMENT = 4096;
    /** Protobuf's 2 GiB, less what names and nodes may take. */
    private static final long MOST_INLINE = Integer.MAX_VALUE - (128L << 20);

    private final String location;
    private final boolean used;
    private final List<Tensor> tensors = new ArrayList<>();
    private long end;

    ExternalStore(String location, boolean used) {
        this.location = location;
        this.used = used;
    }

    /** Whether a graph does not fit into one file. */
    static boolean isNeeded(Graph graph) {
        long bytes = 0;
        for (Initializer initializer : graph.initializers().values()) {
            bytes += initializer.tensor().data().byteSize();
        }
        return bytes > MOST_INLINE;
    }

    String location() {
        return location;
    }

    boolean isEmpty() {
        return tensors.isEmpty();
    }

    /** How a tensor is written into the model; takes its contents here if they are large. */
    TensorProto.Builder place(String name, Tensor tensor) {
        if (!used || tensor.data().byteSize() < LEAST_BYTES) {
            return TensorEncoder.inline(name, tensor);
        }
        long offset = Math.ceilDiv(end, ALIGNMENT) * ALIGNMENT;
        end = offset + tensor.data().byteSize();
        tensors.add(tensor);
        return TensorEncoder.external(name, tensor, location, offset);
    }

    /** Writes all contents that were taken. */
    void write(OutputStream output) throws IOException {
        byte[] buffer = new byte[1 << 16];
        long position = 0;
        for (Tensor tensor : tensors) {
            long padding = Math.ceilDiv(position, ALIGNMENT) * ALIGNMENT - position;
            output.write(new byte[(int) padding]);
            MemorySegment data = tensor.data();
            for (long at = 0; at < data.byteSize(); at += buffer.length) {
                int count = (int) Math.min(buffer.length, data.byteSize() - at);
                MemorySegment.copy(data, ValueLayout.JAVA_BYTE, at, buffer, 0, count);
                output.write(buffer, 0, count);
            }
            position += padding + data.byteSize();
        }
    }
}
