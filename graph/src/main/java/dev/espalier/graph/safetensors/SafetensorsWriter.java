package dev.espalier.graph.safetensors;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import dev.espalier.core.check.Writing;
import dev.espalier.graph.type.Tensor;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Writes a file: the widest types first, so that every tensor is aligned, and by name among equals. */
final class SafetensorsWriter {
    private static final int ALIGNMENT = 8;
    private static final long CHUNK = 1 << 26;
    private static final JsonFactory JSON = new JsonFactory();

    private SafetensorsWriter() {}

    static void write(Path file, Map<String, Tensor> tensors, Map<String, String> metadata) throws IOException {
        if (tensors.containsKey(Header.METADATA)) {
            throw new IllegalArgumentException(
                    "no tensor may be called " + Header.METADATA + ": that is where the remarks are");
        }
        List<Map.Entry<String, Tensor>> sorted = tensors.entrySet().stream()
                .sorted(Comparator.comparing((Map.Entry<String, Tensor> named) ->
                                StoredType.of(named.getValue().type()))
                        .thenComparing(
                                named -> named.getKey().getBytes(StandardCharsets.UTF_8), Arrays::compareUnsigned))
                .toList();
        ByteBuffer header = header(sorted, metadata);
        Writing.to(
                file,
                () -> Writing.whole(file, channel -> {
                    Writing.all(channel, header);
                    for (Map.Entry<String, Tensor> named : sorted) {
                        writeFully(channel, named.getValue().data());
                    }
                }));
    }

    private static ByteBuffer header(List<Map.Entry<String, Tensor>> tensors, Map<String, String> metadata)
            throws IOException {
        ByteArrayOutputStream text = new ByteArrayOutputStream();
        try (JsonGenerator json = JSON.createGenerator(text)) {
            json.writeStartObject();
            if (!metadata.isEmpty()) {
                json.writeObjectFieldStart(Header.METADATA);
                for (Map.Entry<String, String> remark : new TreeMap<>(metadata).entrySet()) {
                    json.writeStringField(remark.getKey(), remark.getValue());
                }
                json.writeEndObject();
            }
            long at = 0;
            for (Map.Entry<String, Tensor> named : tensors) {
                long end = at + named.getValue().data().byteSize();
                writeEntry(json, named.getKey(), named.getValue(), at, end);
                at = end;
            }
            json.writeEndObject();
        }
        while (text.size() % ALIGNMENT != 0) {
            text.write(' ');
        }
        if (text.size() > Header.MOST_BYTES) {
            throw new IOException("a header of %d bytes, but there can be at most %d: fewer tensors, or shorter names"
                    .formatted(text.size(), Header.MOST_BYTES));
        }
        ByteBuffer header = ByteBuffer.allocate(Long.BYTES + text.size());
        MemorySegment.ofBuffer(header).set(SafetensorsReader.LENGTH, 0, text.size());
        return header.put(Long.BYTES, text.toByteArray());
    }

    private static void writeEntry(JsonGenerator json, String name, Tensor tensor, long start, long end)
            throws IOException {
        json.writeObjectFieldStart(name);
        json.writeStringField("dtype", StoredType.of(tensor.type()).name());
        json.writeFieldName("shape");
        json.writeArray(tensor.shape(), 0, tensor.rank());
        json.writeFieldName("data_offsets");
        json.writeArray(new long[] {start, end}, 0, 2);
        json.writeEndObject();
    }

    private static void writeFully(FileChannel channel, MemorySegment memory) throws IOException {
        for (long at = 0; at < memory.byteSize(); at += CHUNK) {
            Writing.all(
                    channel,
                    memory.asSlice(at, Math.min(CHUNK, memory.byteSize() - at)).asByteBuffer());
        }
    }
}
