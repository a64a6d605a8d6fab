package dev.espalier.graph.onnx;

import ai.onnx.proto.OnnxMl.AttributeProto;
import ai.onnx.proto.OnnxMl.AttributeProto.AttributeType;
import ai.onnx.proto.OnnxMl.GraphProto;
import ai.onnx.proto.OnnxMl.ModelProto;
import ai.onnx.proto.OnnxMl.NodeProto;
import ai.onnx.proto.OnnxMl.OperatorSetIdProto;
import ai.onnx.proto.OnnxMl.TensorProto;
import ai.onnx.proto.OnnxMl.TensorShapeProto;
import ai.onnx.proto.OnnxMl.TypeProto;
import ai.onnx.proto.OnnxMl.ValueInfoProto;
import com.google.protobuf.ByteString;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/** Small ONNX models, made without any of the code that is tested, and what to feed them. */
final class OnnxBuilder {
    /** What symbolic dimensions are when a model is run. */
    private static final Map<String, Long> SYMBOLS = Map.of("N", 2L, "S", 5L);

    final GraphProto.Builder graph = GraphProto.newBuilder().setName("test");
    final ModelProto.Builder model = ModelProto.newBuilder();
    final Map<String, Tensor> feeds = new LinkedHashMap<>();
    private final Random random = new Random(4);

    OnnxBuilder(int opset) {
        model.setIrVersion(opset >= 21 ? 10 : opset >= 19 ? 9 : 8)
                .addOpsetImport(OperatorSetIdProto.newBuilder().setVersion(opset));
    }

    OnnxBuilder input(String name, Object... dims) {
        return typed(name, DataType.FLOAT32, 0, dims);
    }

    /** Whole numbers from zero to below a bound. */
    OnnxBuilder typed(String name, DataType type, int below, Object... dims) {
        graph.addInput(value(name, type, dims));
        long[] shape = Arrays.stream(dims)
                .mapToLong(dim ->
                        dim instanceof String symbol ? SYMBOLS.getOrDefault(symbol, 1L) : ((Number) dim).longValue())
                .toArray();
        feeds.put(
                name,
                type.isFloat()
                        ? Tensor.compute(type, shape, i -> random.nextGaussian())
                        : Tensor.computeLongs(type, shape, i -> random.nextInt(below)));
        return this;
    }

    /** An input of a length that cannot be. */
    OnnxBuilder negative(String name) {
        graph.addInput(value(name, DataType.FLOAT32, -3));
        return this;
    }

    static ValueInfoProto value(String name, DataType type, Object... dims) {
        TensorShapeProto.Builder shape = TensorShapeProto.newBuilder();
        for (Object dim : dims) {
            shape.addDim(
                    dim instanceof String symbol
                            ? TensorShapeProto.Dimension.newBuilder().setDimParam(symbol)
                            : TensorShapeProto.Dimension.newBuilder().setDimValue(((Number) dim).longValue()));
        }
        return ValueInfoProto.newBuilder()
                .setName(name)
                .setType(TypeProto.newBuilder()
                        .setTensorType(TypeProto.Tensor.newBuilder()
                                .setElemType(number(type))
                                .setShape(shape)))
                .build();
    }

    private static int number(DataType type) {
        return switch (type) {
            case FLOAT32 -> 1;
            case UINT8 -> 2;
            case INT8 -> 3;
            case UINT16 -> 4;
            case INT16 -> 5;
            case INT32 -> 6;
            case INT64 -> 7;
            case BOOL -> 9;
            case FLOAT16 -> 10;
            case FLOAT64 -> 11;
            case UINT32 -> 12;
            case UINT64 -> 13;
            case BFLOAT16 -> 16;
        };
    }

    /** An initializer of random numbers around one. */
    OnnxBuilder weight(String name, long... shape) {
        return initializer(name, Tensor.compute(DataType.FLOAT32, shape, i -> 1 + 0.3 * random.nextGaussian()));
    }

    OnnxBuilder list(String name, long... values) {
        return initializer(name, Tensor.computeLongs(DataType.INT64, new long[] {values.length}, i -> values[(int) i]));
    }

    OnnxBuilder scalar(String name, double value) {
        return initializer(name, Tensor.scalar(DataType.FLOAT32, value));
    }

    OnnxBuilder initializer(String name, Tensor tensor) {
        graph.addInitializer(proto(tensor).setName(name));
        return this;
    }

    static TensorProto.Builder proto(Tensor tensor) {
        TensorProto.Builder proto = TensorProto.newBuilder().setDataType(number(tensor.type()));
        Arrays.stream(tensor.shape()).forEach(proto::addDims);
        return proto.setRawData(ByteString.copyFrom(tensor.data().asByteBuffer()));
    }

    /** A node; inputs and outputs are separated by blanks, and a dash is one that is left out. */
    OnnxBuilder node(String operator, String inputs, String outputs, AttributeProto... attributes) {
        graph.addNode(nodeProto(operator, inputs, outputs, attributes));
        return this;
    }

    static NodeProto.Builder nodeProto(String operator, String inputs, String outputs, AttributeProto... attributes) {
        return NodeProto.newBuilder()
                .setOpType(operator)
                .addAllInput(names(inputs))
                .addAllOutput(names(outputs))
                .addAllAttribute(List.of(attributes));
    }

    private static List<String> names(String text) {
        return text.isEmpty()
                ? List.of()
                : Arrays.stream(text.split(" ", -1))
                        .map(name -> name.equals("-") ? "" : name)
                        .toList();
    }

    OnnxBuilder output(String... names) {
        for (String name : names) {
            graph.addOutput(ValueInfoProto.newBuilder().setName(name));
        }
        return this;
    }

    ModelProto proto() {
        return model.clone().setGraph(graph).build();
    }

    byte[] bytes() {
        return proto().toByteArray();
    }

    static AttributeProto whole(String name, long value) {
        return attribute(name, AttributeType.INT).setI(value).build();
    }

    static AttributeProto number(String name, float value) {
        return attribute(name, AttributeType.FLOAT).setF(value).build();
    }

    static AttributeProto numbers(String name, Float... values) {
        return attribute(name, AttributeType.FLOATS)
                .addAllFloats(List.of(values))
                .build();
    }

    static AttributeProto longs(String name, Long... values) {
        return attribute(name, AttributeType.INTS).addAllInts(List.of(values)).build();
    }

    static AttributeProto text(String name, String value) {
        return attribute(name, AttributeType.STRING)
                .setS(ByteString.copyFromUtf8(value))
                .build();
    }

    static AttributeProto texts(String name, String... values) {
        return attribute(name, AttributeType.STRINGS)
                .addAllStrings(
                        Arrays.stream(values).map(ByteString::copyFromUtf8).toList())
                .build();
    }

    static AttributeProto tensor(String name, Tensor value) {
        return attribute(name, AttributeType.TENSOR).setT(proto(value)).build();
    }

    static AttributeProto.Builder attribute(String name, AttributeType type) {
        return AttributeProto.newBuilder().setName(name).setType(type);
    }
}
