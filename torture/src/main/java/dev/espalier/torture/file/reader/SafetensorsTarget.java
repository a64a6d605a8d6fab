package dev.espalier.torture.file.reader;

import dev.espalier.graph.safetensors.Safetensors;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;

/** Tensors in safetensors. */
public final class SafetensorsTarget extends SingleFile {
    /** Called by the service loader. */
    public SafetensorsTarget() {
        super("safetensors", Structure.TEXT, "model.safetensors");
    }

    @Override
    public List<byte[]> seeds(Path folder) throws IOException {
        SequencedMap<String, Tensor> tensors = new LinkedHashMap<>();
        tensors.put("a", Tensor.of(new float[] {1, 2, 3, 4, 5, 6}, 2, 3));
        tensors.put("b", Tensor.of(new long[] {1, 2}, 2));
        tensors.put("half", Tensor.of(new float[] {1, 2}, 2).cast(DataType.FLOAT16));
        tensors.put("none", Tensor.of(new float[0], 0));
        Path file = folder.resolve("seed");
        Safetensors.write(file, tensors, Map.of("format", "pt"));
        return List.of(Files.readAllBytes(file));
    }

    @Override
    public List<String> words() {
        return List.of(
                "\"F32\"",
                "\"F16\"",
                "\"BF16\"",
                "\"I64\"",
                "\"BOOL\"",
                "\"__metadata__\"",
                "\"shape\"",
                "\"dtype\"",
                "\"data_offsets\"");
    }

    /** The length of the header: up to the last bracket, as no number of a sound file has a byte like that. */
    @Override
    public byte[] mend(byte[] file) {
        byte[] mended = file.clone();
        for (int i = file.length - 1; i >= Long.BYTES; i--) {
            if (file[i] == '}') {
                ByteBuffer.wrap(mended).order(ByteOrder.LITTLE_ENDIAN).putLong(0, i + 1L - Long.BYTES);
                break;
            }
        }
        return mended;
    }

    @Override
    void read(Path file) throws IOException {
        for (Tensor tensor : Safetensors.read(file).tensors().values()) {
            if (tensor.size() > 0) {
                tensor.getDouble(tensor.size() - 1);
            }
        }
    }
}
