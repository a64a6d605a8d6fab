package dev.espalier.graph.onnx;

import ai.onnx.proto.OnnxMl.ModelProto;
import com.google.protobuf.ByteString;
import com.google.protobuf.CodedInputStream;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.UnsafeByteOperations;
import dev.espalier.graph.Graph;
import dev.espalier.graph.GraphException;
import dev.espalier.graph.pass.Fusion;
import dev.espalier.graph.pass.Lengths;
import dev.espalier.graph.pass.Rearrangements;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Reads ONNX models.
 *
 * <p>On the way constants are folded: a node that depends on nothing but constants, or on shapes that are known, becomes a
 * constant. What a model brings along is told apart by how it is used:
 *
 * <ul>
 *   <li>whole numbers, truth values, {@code Constant} nodes and what is folded from them are constants, and so are single
 *       numbers that no layer has as its weight;
 *   <li>running means and variances of batch normalization are buffers;
 *   <li>all other initializers are parameters. One that only a {@code Transpose}, {@code Reshape}, {@code Cast} or the like
 *       reads is replaced by the result, under its own name.
 * </ul>
 *
 * <p>An operator that is not known here, or a form of one, is kept as it is ({@link dev.espalier.graph.op.Foreign}), if the file
 * or a {@link TypeProbe} tells the types of what it makes. An {@code If} whose condition is known is the branch that is taken.
 *
 * <p>Whole numbers that stand for fractions, as int8 models have them, are read as the fractions ({@link Dequantization}).
 *
 * <p>A symbolic dimension that a file names twice in the shape of one input becomes two symbols: exporters are known to
 * give one name to lengths that differ.
 */
public final class OnnxReader {
    private static final int NEWEST_PICKLE = 5;

    private OnnxReader() {}

    /**
     * Reads a model, and the files that hold its external data; those must lie in its folder.
     *
     * @param path the model's file
     * @return the model
     * @throws OnnxException if the file is no ONNX model that can be read
     * @throws IOException if the file cannot be read at all
     * @throws GraphException if the model's graph makes no sense, or uses what is not supported
     */
    public static OnnxModel read(Path path) throws IOException {
        return read(path, Optional.empty());
    }

    /**
     * Reads a model, whatever operators it has: those that are not known are kept as they are.
     *
     * @param path the model's file
     * @param probe tells the types of tensors behind such operators where the file does not
     * @return the model
     * @throws OnnxException if the file is no ONNX model that can be read
     * @throws IOException if the file cannot be read at all
     * @throws GraphException if the model's graph makes no sense, or uses what is not supported
     */
    public static OnnxModel read(Path path, TypeProbe probe) throws IOException {
        return read(path, Optional.of(probe));
    }

    private static OnnxModel read(Path path, Optional<TypeProbe> probe) throws IOException {
        if (Files.exists(path) && !Files.isRegularFile(path)) {
            throw new OnnxException(path + " is no file");
        }
        Path folder = path.toAbsolutePath().getParent();
        try (FileChannel channel = FileChannel.open(path, StandardOpenOption.READ);
                Arena arena = Arena.ofShared()) {
            if (channel.size() > Integer.MAX_VALUE) {
                throw new OnnxException(path + " has " + channel.size()
                        + " bytes, but a protobuf message ends at 2 GiB: store the tensors as external data");
            }
            MemorySegment file = channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size(), arena);
            return read(path.toString(), UnsafeByteOperations.unsafeWrap(file.asByteBuffer()), folder, probe);
        }
    }

    /**
     * Reads a model without external data.
     *
     * @param bytes the contents of a model's file
     * @return the model
     * @throws OnnxException if they are no ONNX model that can be read
     * @throws IOException never otherwise
     * @throws GraphException if the model's graph makes no sense, or uses what is not supported
     */
    public static OnnxModel read(byte[] bytes) throws IOException {
        return read("the model", UnsafeByteOperations.unsafeWrap(bytes), null, Optional.empty());
    }

    private static OnnxModel read(String what, ByteString bytes, @Nullable Path folder, Optional<TypeProbe> probe)
            throws IOException {
        ModelProto model = parse(what, bytes);
        if (!model.hasGraph()) {
            throw new OnnxException(what + " is no ONNX model: it has no graph");
        }
        Classical.refuse(what, model);
        int opset = Opsets.of(what, model.getOpsetImportList());
        TensorDecoder tensors = new TensorDecoder(new ExternalData(folder));
        Map<String, String> metadata = new LinkedHashMap<>();
        model.getMetadataPropsList().forEach(entry -> metadata.put(entry.getKey(), entry.getValue()));
        GraphReader reader = new GraphReader(model, tensors, probe.orElse(null), folder);
        Graph graph = reader.read(Functions.inline(model, opset));
        return new OnnxModel(
                Rearrangements.simplify(Lengths.fromInputs(Fusion.fuse(graph.withMetadata(metadata)))),
                opset,
                model.getProducerName(),
                reader.dequantization());
    }

    /** What {@code torch.save} and Python's {@code pickle} write is a program that makes the object: no message begins like these. */
    private static void refusePickle(String what, ByteString bytes) throws OnnxException {
        boolean zip = bytes.size() > 3 && bytes.substring(0, 4).toStringUtf8().equals("PK\3\4");
        boolean pickle = bytes.size() > 1 && bytes.byteAt(0) == (byte) 0x80 && bytes.byteAt(1) <= NEWEST_PICKLE;
        if (zip || pickle) {
            throw new OnnxException(what + " is no ONNX model, but "
                    + (zip ? "a zip file, as torch.save writes" : "a pickled object of Python")
                    + ": such a file can hold code, and is not read; write the model with torch.onnx.export");
        }
    }

    /** Large tensors stay where they are in the file until they are copied into memory of their own. */
    private static ModelProto parse(String what, ByteString bytes) throws OnnxException {
        refusePickle(what, bytes);
        try {
            CodedInputStream input = bytes.newCodedInput();
            input.enableAliasing(true);
            ModelProto model = ModelProto.parseFrom(input);
            input.checkLastTagWas(0);
            return model;
        } catch (InvalidProtocolBufferException noProtobuf) {
            throw new OnnxException(
                    what + " is no ONNX model, or only a part of one: " + noProtobuf.getMessage(), noProtobuf);
        } catch (IOException | IllegalArgumentException noModel) {
            throw new OnnxException(what + " is no ONNX model: " + noModel.getMessage(), noModel);
        }
    }
}
