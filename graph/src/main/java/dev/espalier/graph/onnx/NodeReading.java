package dev.espalier.graph.onnx;

import ai.onnx.proto.OnnxMl.AttributeProto;
import ai.onnx.proto.OnnxMl.AttributeProto.AttributeType;
import ai.onnx.proto.OnnxMl.GraphProto;
import ai.onnx.proto.OnnxMl.NodeProto;
import com.google.protobuf.ByteString;
import dev.espalier.graph.GraphException;
import dev.espalier.graph.op.Fact;
import dev.espalier.graph.op.Operands;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Shape;
import dev.espalier.graph.type.Tensor;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A node of a file, as the table of operators sees it: its attributes, and what is known of its inputs so far. */
final class NodeReading {
    /** A component made from a longer tensor is nonsense. */
    private static final int MOST_COMPONENTS = 1 << 16;

    private final String name;
    private final NodeProto node;
    private final int opset;
    private final TensorDecoder tensors;
    private final Operands operands;
    private final List<@Nullable Tensor> contents;
    private final Map<String, AttributeProto> attributes = new HashMap<>();

    NodeReading(
            String name,
            Functions.Call call,
            TensorDecoder tensors,
            Operands operands,
            List<@Nullable Tensor> contents) {
        this.name = name;
        this.node = call.node();
        this.opset = call.opset();
        this.tensors = tensors;
        this.operands = operands;
        this.contents = contents;
        for (AttributeProto attribute : node.getAttributeList()) {
            attributes.put(attribute.getName(), attribute);
        }
    }

    /** The version of the operators that the node speaks. */
    int opset() {
        return opset;
    }

    /** How many outputs the file gives it. */
    int outputs() {
        return node.getOutputCount();
    }

    /** Whether an output has a name, so that it may be read. */
    boolean isMade(int output) {
        return output < node.getOutputCount() && !node.getOutput(output).isEmpty();
    }

    /** What is known of the inputs. */
    Operands operands() {
        return operands;
    }

    boolean has(int input) {
        return operands.has(input);
    }

    Shape shape(int input) {
        return fact(input).shape();
    }

    DataType data(int input) {
        return fact(input).data();
    }

    private Fact fact(int input) {
        if (!has(input)) {
            throw problem("input " + input + " is missing");
        }
        return operands.get(input);
    }

    /** Whether the contents of an input are known, or it is left out. */
    boolean isKnown(int input) {
        return !has(input) || contents.get(input) != null;
    }

    /** The contents of an input, if they are known; else null. */
    @Nullable
    Tensor contents(int input) {
        return contents.get(input);
    }

    /** An input that must be a constant, because the record holds it as a component. */
    Tensor constant(int input, String what) {
        fact(input);
        Tensor tensor = contents.get(input);
        if (tensor == null) {
            throw problem(what + " (input " + input + ", " + node.getInput(input)
                    + ") must be a constant, but it is known only when the model runs");
        }
        if (tensor.size() > MOST_COMPONENTS) {
            throw problem(what + " (input " + input + ") has " + tensor.size() + " elements; there may be at most "
                    + MOST_COMPONENTS);
        }
        return tensor;
    }

    /** A constant input of whole numbers. */
    List<Long> longs(int input, String what) {
        Tensor tensor = constant(input, what);
        if (!tensor.type().isInteger()) {
            throw problem(what + " must be whole numbers but are " + tensor);
        }
        return java.util.Arrays.stream(tensor.toLongs()).boxed().toList();
    }

    /** A constant input of one number. */
    double number(int input, String what) {
        return one(constant(input, what), what).getDouble(0);
    }

    /** A constant input of one whole number. */
    long whole(int input, String what) {
        return one(constant(input, what), what).getLong(0);
    }

    private Tensor one(Tensor tensor, String what) {
        if (tensor.size() != 1) {
            throw problem(what + " must be one number but is " + tensor);
        }
        return tensor;
    }

    /** Whether the file gives an attribute. */
    boolean hasAttribute(String key) {
        return attributes.containsKey(key);
    }

    long whole(String key, long otherwise) {
        AttributeProto attribute = find(key, AttributeType.INT);
        return attribute == null ? otherwise : attribute.getI();
    }

    boolean flag(String key, boolean otherwise) {
        return whole(key, otherwise ? 1 : 0) != 0;
    }

    double number(String key, double otherwise) {
        AttributeProto attribute = find(key, AttributeType.FLOAT);
        return attribute == null ? otherwise : attribute.getF();
    }

    List<Long> longs(String key, List<Long> otherwise) {
        AttributeProto attribute = find(key, AttributeType.INTS);
        return attribute == null ? otherwise : List.copyOf(attribute.getIntsList());
    }

    List<Float> numbers(String key) {
        AttributeProto attribute = find(key, AttributeType.FLOATS);
        return attribute == null ? List.of() : List.copyOf(attribute.getFloatsList());
    }

    List<String> texts(String key) {
        AttributeProto attribute = find(key, AttributeType.STRINGS);
        return attribute == null
                ? List.of()
                : attribute.getStringsList().stream()
                        .map(ByteString::toStringUtf8)
                        .toList();
    }

    String text(String key, String otherwise) {
        AttributeProto attribute = find(key, AttributeType.STRING);
        return attribute == null ? otherwise : attribute.getS().toStringUtf8();
    }

    @Nullable
    Tensor tensor(String key) throws IOException {
        AttributeProto attribute = find(key, AttributeType.TENSOR);
        return attribute == null ? null : tensors.decode(attribute.getT(), "attribute " + key + " of node " + name);
    }

    /** A graph within the node. */
    GraphProto graph(String key) {
        AttributeProto attribute = find(key, AttributeType.GRAPH);
        if (attribute == null) {
            throw problem("attribute " + key + " is missing");
        }
        return attribute.getG();
    }

    /** The type of elements that an attribute names. */
    DataType type(String key) {
        if (!hasAttribute(key)) {
            throw problem("attribute " + key + " is missing");
        }
        long number = whole(key, 0);
        DataType type = OnnxTypes.find(number);
        if (type == null) {
            throw problem(
                    "attribute " + key + " names the type " + OnnxTypes.name(number) + ", which is not supported");
        }
        return type;
    }

    /** The contents of a {@code Constant} node, which has exactly one of several attributes. */
    Tensor constantValue() throws IOException {
        for (String key : attributes.keySet()) {
            switch (key) {
                case "value" -> {
                    Tensor value = tensor(key);
                    if (value != null) {
                        return value;
                    }
                }
                case "value_float" -> {
                    return Tensor.scalar(DataType.FLOAT32, number(key, 0));
                }
                case "value_int" -> {
                    long value = whole(key, 0);
                    return Tensor.computeLongs(DataType.INT64, new long[0], i -> value);
                }
                case "value_ints" -> {
                    List<Long> values = longs(key, List.of());
                    return Tensor.computeLongs(DataType.INT64, new long[] {values.size()}, i -> values.get((int) i));
                }
                case "value_floats" -> {
                    AttributeProto values = find(key, AttributeType.FLOATS);
                    if (values != null) {
                        return Tensor.compute(
                                DataType.FLOAT32, new long[] {values.getFloatsCount()}, i -> values.getFloats((int) i));
                    }
                }
                case "value_string", "value_strings", "sparse_value" ->
                    throw problem("attribute " + key + ": neither text nor sparse tensors are supported");
                default -> throw problem("attribute " + key + " is none that a constant has");
            }
        }
        throw problem("it has no value");
    }

    /** Refuses a node that has an attribute set to something that cannot be expressed. */
    void require(boolean holds, String problem) {
        if (!holds) {
            throw problem(problem);
        }
    }

    private @Nullable AttributeProto find(String key, AttributeType type) {
        AttributeProto attribute = attributes.get(key);
        if (attribute == null) {
            return null;
        }
        // Files of the first version of the format do not tell the type.
        boolean fits = attribute.getType() == type || attribute.getType() == AttributeType.UNDEFINED;
        require(fits, "attribute " + key + " is of type " + attribute.getType() + " but must be " + type);
        require(
                attribute.getRefAttrName().isEmpty(),
                "attribute " + key + " refers to " + attribute.getRefAttrName() + ", but the node is in no function");
        return attribute;
    }

    /** What to throw for this node where something went wrong. */
    GraphException explained(RuntimeException problem) {
        GraphException explained = problem(String.valueOf(problem.getMessage()));
        explained.initCause(problem);
        return explained;
    }

    /** What to throw for this node. */
    GraphException problem(String problem) {
        return new GraphException("node " + name + " (" + node.getOpType() + "): " + problem);
    }
}
