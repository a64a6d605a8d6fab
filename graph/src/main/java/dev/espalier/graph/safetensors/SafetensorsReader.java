package dev.espalier.graph.safetensors;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.databind.util.ByteBufferBackedInputStream;
import dev.espalier.graph.type.Tensor;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.Reader;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;

/** Maps a file and checks its header against its length. */
final class SafetensorsReader {
    static final ValueLayout.OfLong LENGTH = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private SafetensorsReader() {}

    static Safetensors read(Path file) throws IOException {
        MemorySegment memory;
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            // The mapping lives as long as a tensor on it can be reached: no one has to close a model.
            memory = channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size(), Arena.ofAuto());
        }
        try {
            return parse(memory);
        } catch (JacksonException malformed) {
            throw new IOException(
                    "%s: the header is no sound JSON: %s".formatted(file, malformed.getOriginalMessage()), malformed);
        } catch (CharacterCodingException malformed) {
            throw new IOException(file + ": the header is no UTF-8 text", malformed);
        } catch (IOException problem) {
            throw new IOException(file + ": " + problem.getMessage(), problem);
        }
    }

    private static Safetensors parse(MemorySegment memory) throws IOException {
        long behindLength = LENGTH.byteSize();
        require(
                memory.byteSize() >= behindLength,
                "no safetensors file: %d bytes, but the length of the header alone takes %d"
                        .formatted(memory.byteSize(), behindLength));
        long length = memory.get(LENGTH, 0);
        long most = Math.min(Header.MOST_BYTES, memory.byteSize() - behindLength);
        require(
                length >= 0 && length <= most,
                "no safetensors file, or cut off: the header has %s bytes, but there can be at most %d"
                        .formatted(Long.toUnsignedString(length), most));
        Header header = Header.parse(text(memory.asSlice(behindLength, length)));
        MemorySegment data = memory.asSlice(behindLength + length);
        requireWithoutGaps(header, data.byteSize());
        SequencedMap<String, Tensor> tensors = new LinkedHashMap<>();
        for (Map.Entry<String, Header.Entry> named : header.entries().entrySet()) {
            Header.Entry entry = named.getValue();
            requireRightSize(named.getKey(), entry);
            MemorySegment bytes = data.asSlice(entry.start(), entry.end() - entry.start());
            tensors.put(named.getKey(), Tensor.of(entry.type().data(), entry.lengths(), bytes));
        }
        return new Safetensors(tensors, header.metadata());
    }

    private static Reader text(MemorySegment header) {
        // Not a charset's name but its decoder: only that refuses what is not UTF-8.
        return new InputStreamReader(
                new ByteBufferBackedInputStream(header.asByteBuffer()), StandardCharsets.UTF_8.newDecoder());
    }

    /** The tensors' bytes must cover the rest of the file, each byte once. */
    private static void requireWithoutGaps(Header header, long bytes) throws IOException {
        List<Map.Entry<String, Header.Entry>> sorted = header.entries().entrySet().stream()
                .sorted(Comparator.comparingLong((Map.Entry<String, Header.Entry> named) ->
                                named.getValue().start())
                        .thenComparingLong(named -> named.getValue().end()))
                .toList();
        long reached = 0;
        for (Map.Entry<String, Header.Entry> named : sorted) {
            Header.Entry entry = named.getValue();
            String problem = entry.end() < entry.start()
                    ? "ends before it starts"
                    : entry.end() > bytes
                            ? "reaches beyond the file, which has " + bytes + " bytes of data: is it cut off?"
                            : entry.start() < reached
                                    ? "overlaps the tensor before it, which ends at " + reached
                                    : entry.start() > reached ? "leaves a gap: it should start at " + reached : "";
            if (!problem.isEmpty()) {
                throw Header.problem(named.getKey(), entry, problem);
            }
            reached = entry.end();
        }
        require(reached == bytes, "%d bytes of data, but the tensors end at %d".formatted(bytes, reached));
    }

    private static void requireRightSize(String name, Header.Entry entry) throws IOException {
        long needed;
        try {
            needed = Math.multiplyExact(
                    Tensor.size(entry.lengths()), entry.type().data().bytes());
        } catch (IllegalArgumentException | ArithmeticException tooLarge) {
            throw Header.problem(name, entry, "has more elements than memory can hold");
        }
        if (needed != entry.end() - entry.start()) {
            throw Header.problem(name, entry, "needs " + needed + " bytes");
        }
    }

    private static void require(boolean holds, String problem) throws IOException {
        if (!holds) {
            throw new IOException(problem);
        }
    }
}
