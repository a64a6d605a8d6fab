package dev.espalier.graph.onnx;

import ai.onnx.proto.OnnxMl.StringStringEntryProto;
import ai.onnx.proto.OnnxMl.TensorProto;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The files beside a model that hold the contents of its large tensors. They are mapped, not read; and only those inside the
 * model's own folder, so that a model cannot make a program show some other file.
 */
final class ExternalData {
    private final @Nullable Path folder;
    private final Map<Path, MemorySegment> mapped = new HashMap<>();

    /** The files in a folder; null for a model that came without one. */
    ExternalData(@Nullable Path folder) {
        this.folder = folder;
    }

    /** The contents of a tensor that is stored outside of the model. */
    MemorySegment find(TensorProto tensor, long bytes) throws IOException {
        Map<String, String> entries = new HashMap<>();
        for (StringStringEntryProto entry : tensor.getExternalDataList()) {
            entries.put(entry.getKey(), entry.getValue());
        }
        String what = "tensor " + tensor.getName();
        MemorySegment file = map(what, entries.getOrDefault("location", ""));
        long offset = number(what, "offset", entries.getOrDefault("offset", "0"));
        long length = number(what, "length", entries.getOrDefault("length", Long.toString(bytes)));
        if (length != bytes) {
            throw new OnnxException(
                    what + " needs " + bytes + " bytes but its external data has a length of " + length);
        }
        if (offset > file.byteSize() || bytes > file.byteSize() - offset) {
            throw new OnnxException("%s lies at bytes %d to %d of %s, which has only %d"
                    .formatted(what, offset, offset + bytes, entries.get("location"), file.byteSize()));
        }
        return file.asSlice(offset, bytes);
    }

    private static long number(String what, String key, String text) throws OnnxException {
        try {
            long value = Long.parseLong(text);
            if (value >= 0) {
                return value;
            }
        } catch (NumberFormatException notANumber) {
            throw new OnnxException(what + " has external data with " + key + " " + text + ": no number", notANumber);
        }
        throw new OnnxException(what + " has external data with " + key + " " + text + ": it must be at least 0");
    }

    private MemorySegment map(String what, String location) throws IOException {
        Path file = inside(what, location);
        MemorySegment known = mapped.get(file);
        if (known != null) {
            return known;
        }
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            MemorySegment segment = channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size(), Arena.ofAuto());
            mapped.put(file, segment);
            return segment;
        }
    }

    private Path inside(String what, String location) throws IOException {
        if (folder == null) {
            throw new OnnxException(
                    what + " is stored in the file " + location + ": read the model from its path, not from bytes");
        }
        Path relative = relative(what, location);
        Path home = folder.toRealPath();
        Path file;
        try {
            file = home.resolve(relative).toRealPath();
        } catch (NoSuchFileException missing) {
            throw new OnnxException(
                    what + " is stored in " + location + ", which is not in the model's folder " + folder, missing);
        }
        if (!file.startsWith(home)) {
            throw refused(what, location, "it is a link that leads out of the model's folder " + folder);
        }
        if (!Files.isRegularFile(file)) {
            throw refused(what, location, "it is no file");
        }
        return file;
    }

    private static Path relative(String what, String location) throws OnnxException {
        Path relative;
        try {
            relative = Path.of(location);
        } catch (InvalidPathException noPath) {
            throw new OnnxException(what + " is stored in a file whose name is no path", noPath);
        }
        if (location.isBlank()) {
            throw refused(what, location, "it has no location");
        }
        if (relative.isAbsolute() || relative.getRoot() != null) {
            throw refused(what, location, "it must be a path relative to the model's folder");
        }
        for (Path part : relative) {
            if (part.toString().equals("..")) {
                throw refused(what, location, "it must not leave the model's folder");
            }
        }
        return relative;
    }

    private static OnnxException refused(String what, String location, String why) {
        return new OnnxException(what + " is stored in '" + location + "', which is refused: " + why);
    }
}
