package dev.espalier.graph.onnx;

import ai.onnx.proto.OnnxMl.AttributeProto;
import ai.onnx.proto.OnnxMl.AttributeProto.AttributeType;
import ai.onnx.proto.OnnxMl.NodeProto;
import dev.espalier.graph.op.Foreign;
import dev.espalier.graph.type.TensorType;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Operators of ONNX that graphs have no record for, to be put into a graph that is only written and run by others: those of whole
 * numbers, which {@link OnnxReader} reads as fractions again.
 */
public final class FileOperator {
    private FileOperator() {}

    /**
     * {@return an operator of ONNX's own domain, as all versions that are written have it}
     *
     * @param name what ONNX calls it
     * @param attributes whole numbers by the names of its attributes
     * @param inputs the types of what it reads
     * @param outputs the types of what it makes
     */
    public static Foreign of(
            String name, SortedMap<String, Long> attributes, List<TensorType> inputs, List<TensorType> outputs) {
        NodeProto.Builder kept = NodeProto.newBuilder();
        attributes.forEach((key, value) -> kept.addAttribute(AttributeProto.newBuilder()
                .setName(key)
                .setType(AttributeType.INT)
                .setI(value)));
        return new Foreign(
                "",
                name,
                new TreeMap<>(Map.of("", Opsets.LEAST)),
                new Foreign.Attributes(kept.build().toByteArray()),
                List.of(),
                inputs.stream().map(Optional::of).toList(),
                outputs.stream().map(Optional::of).toList());
    }
}
