package dev.espalier.graph.onnx;

import ai.onnx.proto.OnnxMl.AttributeProto;
import ai.onnx.proto.OnnxMl.AttributeProto.AttributeType;
import ai.onnx.proto.OnnxMl.NodeProto;
import com.google.protobuf.ByteString;
import dev.espalier.graph.Node;
import dev.espalier.graph.op.Operands;
import dev.espalier.graph.op.Windows;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import java.util.ArrayList;
import java.util.List;

/** A node on its way into a file: the table of operators adds attributes, constants, and nodes before it. */
final class NodeWriting {
    private final Node node;
    private final Operands operands;
    private final int opset;
    private final Names tensorNames;
    private final Names nodeNames;
    private final NodeProto.Builder main = NodeProto.newBuilder();
    private final List<NodeProto> before = new ArrayList<>();

    NodeWriting(Node node, Operands operands, int opset, Names tensorNames, Names nodeNames) {
        this.node = node;
        this.operands = operands;
        this.opset = opset;
        this.tensorNames = tensorNames;
        this.nodeNames = nodeNames;
        main.setName(node.name()).setOpType(node.operator().label());
        main.addAllInput(node.inputs()).addAllOutput(node.outputs());
    }

    /** All nodes that this one becomes, in order. */
    List<NodeProto> finish() {
        while (main.getInputCount() > 0
                && main.getInput(main.getInputCount() - 1).isEmpty()) {
            List<String> inputs = List.copyOf(main.getInputList());
            main.clearInput().addAllInput(inputs.subList(0, inputs.size() - 1));
        }
        List<NodeProto> all = new ArrayList<>(before);
        all.add(main.build());
        return all;
    }

    int opset() {
        return opset;
    }

    DataType data(int input) {
        return operands.data(input);
    }

    int rank(int input) {
        return operands.shape(input).rank();
    }

    /** {@return what the node reads} */
    Operands operands() {
        return operands;
    }

    boolean has(int input) {
        return node.has(input);
    }

    String input(int input) {
        return node.input(input);
    }

    NodeWriting whole(String key, long value) {
        return attribute(attribute(key, AttributeType.INT).setI(value));
    }

    NodeWriting flag(String key, boolean value) {
        return whole(key, value ? 1 : 0);
    }

    /** For attributes that older versions do not know. */
    NodeWriting flagIfSet(String key, boolean value) {
        return value ? flag(key, true) : this;
    }

    NodeWriting number(String key, double value) {
        return attribute(attribute(key, AttributeType.FLOAT).setF((float) value));
    }

    NodeWriting longs(String key, List<Long> values) {
        return attribute(attribute(key, AttributeType.INTS).addAllInts(values));
    }

    NodeWriting text(String key, String value) {
        return attribute(attribute(key, AttributeType.STRING).setS(ByteString.copyFromUtf8(value)));
    }

    NodeWriting texts(String key, List<String> values) {
        return attribute(attribute(key, AttributeType.STRINGS)
                .addAllStrings(values.stream().map(ByteString::copyFromUtf8).toList()));
    }

    NodeWriting tensor(String key, Tensor value) {
        return attribute(attribute(key, AttributeType.TENSOR).setT(TensorEncoder.inline("", value)));
    }

    NodeWriting windows(Windows windows) {
        return longs("strides", windows.strides())
                .longs("pads", windows.pads())
                .longs("dilations", windows.dilations());
    }

    private NodeWriting attribute(AttributeProto.Builder attribute) {
        main.addAttribute(attribute);
        return this;
    }

    private static AttributeProto.Builder attribute(String key, AttributeType type) {
        return AttributeProto.newBuilder().setName(key).setType(type);
    }

    /** One more input, which is a constant. */
    NodeWriting constant(String what, Tensor value) {
        main.addInput(constantStep(what, value));
        return this;
    }

    /** One more input, which is left out. */
    NodeWriting absent() {
        main.addInput("");
        return this;
    }

    private String constantStep(String what, Tensor value) {
        String output = tensorNames.unique(node.name() + "/" + what);
        before.add(constantNode(nodeNames.unique(output), output, value));
        return output;
    }

    static NodeProto constantNode(String name, String output, Tensor value) {
        return NodeProto.newBuilder()
                .setName(name)
                .setOpType("Constant")
                .addOutput(output)
                .addAttribute(attribute("value", AttributeType.TENSOR).setT(TensorEncoder.inline("", value)))
                .build();
    }

    /** A node before this one; its output is named. */
    String step(String operator, String... inputs) {
        return step(NodeProto.newBuilder().setOpType(operator).addAllInput(List.of(inputs)));
    }

    private String step(NodeProto.Builder step) {
        String output = tensorNames.unique(node.name() + "/" + step.getOpType());
        before.add(step.setName(nodeNames.unique(output)).addOutput(output).build());
        return output;
    }

    String cast(String input, DataType type) {
        return step(NodeProto.newBuilder()
                .setOpType("Cast")
                .addInput(input)
                .addAttribute(attribute("to", AttributeType.INT)
                        .setI(OnnxTypes.of(type).getNumber())));
    }

    /** The mean over some axes, as it is written below opset 18. */
    String mean(String of, List<Long> axes) {
        return step(NodeProto.newBuilder()
                .setOpType("ReduceMean")
                .addInput(of)
                .addAttribute(attribute("axes", AttributeType.INTS).addAllInts(axes))
                .addAttribute(attribute("keepdims", AttributeType.INT).setI(1)));
    }

    /** A number of the type of the first input. */
    String scalar(double value) {
        return constantStep("Constant", Tensor.scalar(data(0), value));
    }

    /** Makes this node, which comes last and keeps its outputs, another operator. */
    void become(String operator, String... inputs) {
        main.setOpType(operator).clearInput().addAllInput(List.of(inputs));
    }

    static Tensor list(List<Long> values) {
        return Tensor.computeLongs(DataType.INT64, new long[] {values.size()}, i -> values.get((int) i));
    }

    static Tensor whole(long value) {
        return Tensor.computeLongs(DataType.INT64, new long[0], i -> value);
    }
}
