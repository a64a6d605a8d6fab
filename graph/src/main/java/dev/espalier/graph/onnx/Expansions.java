package dev.espalier.graph.onnx;

import ai.onnx.proto.OnnxMl.AttributeProto;
import ai.onnx.proto.OnnxMl.AttributeProto.AttributeType;
import ai.onnx.proto.OnnxMl.NodeProto;
import com.google.protobuf.ByteString;
import dev.espalier.graph.GraphException;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Dimension;
import dev.espalier.graph.type.Tensor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Operators that are read as several others. */
final class Expansions {
    /** The version that the nodes made here are written in, whatever the file's is. */
    static final int OPSET = 17;

    private static final int MOST_INDICES = 16;

    private Expansions() {}

    /** The nodes that take a node's place. */
    static List<NodeProto> expand(
            OperatorTable.Expansion expansion, String name, NodeProto node, NodeReading reading, Names tensorNames) {
        Steps steps = new Steps(name, node, tensorNames);
        try {
            expansion.expand(reading, steps);
        } catch (GraphException alreadyExplained) {
            throw alreadyExplained;
        } catch (IllegalArgumentException
                | ArithmeticException
                | IllegalStateException
                | IndexOutOfBoundsException problem) {
            throw reading.explained(problem);
        }
        return steps.nodes;
    }

    static AttributeProto text(String key, String value) {
        return AttributeProto.newBuilder()
                .setName(key)
                .setType(AttributeType.STRING)
                .setS(ByteString.copyFromUtf8(value))
                .build();
    }

    /** The nodes that are put in place of another, one behind the other. */
    static final class Steps {
        private final String name;
        private final NodeProto node;
        private final Names tensorNames;
        private final List<NodeProto> nodes = new ArrayList<>();

        Steps(String name, NodeProto node, Names tensorNames) {
            this.name = name;
            this.node = node;
            this.tensorNames = tensorNames;
        }

        List<NodeProto> nodes() {
            return nodes;
        }

        String input(int index) {
            return index < node.getInputCount() ? node.getInput(index) : "";
        }

        String constant(long value) {
            return add(NodeProto.newBuilder().setOpType("Constant").addAttribute(whole("value_int", value)));
        }

        String number(double value, DataType type) {
            return add(NodeProto.newBuilder()
                    .setOpType("Constant")
                    .addAttribute(AttributeProto.newBuilder()
                            .setName("value")
                            .setType(AttributeType.TENSOR)
                            .setT(TensorEncoder.inline("", Tensor.scalar(type, value)))));
        }

        String numbers(List<Float> values) {
            return add(NodeProto.newBuilder()
                    .setOpType("Constant")
                    .addAttribute(AttributeProto.newBuilder()
                            .setName("value_floats")
                            .setType(AttributeType.FLOATS)
                            .addAllFloats(values)));
        }

        /** The node itself, to be changed and to be put {@link #last}. */
        NodeProto.Builder copy() {
            return node.toBuilder();
        }

        /** Lets a node under the name of the one that is replaced make all its outputs. */
        void last(NodeProto.Builder step) {
            nodes.add(step.setName(name)
                    .clearOutput()
                    .addAllOutput(node.getOutputList())
                    .build());
        }

        String list(long... values) {
            return add(NodeProto.newBuilder().setOpType("Constant").addAttribute(longs("value_ints", values)));
        }

        String mean(String input, long... axes) {
            return add(NodeProto.newBuilder()
                    .setOpType("ReduceMean")
                    .addInput(input)
                    .addAttribute(longs("axes", axes)));
        }

        String transposed(String input, long... permutation) {
            return add(NodeProto.newBuilder()
                    .setOpType("Transpose")
                    .addInput(input)
                    .addAttribute(longs("perm", permutation)));
        }

        /** The lengths of a tensor from one axis up to another. */
        String lengths(String input, long from, long to) {
            return step("Slice", step("Shape", input), list(from), list(to));
        }

        /** Places of an axis from one up to another, in steps. */
        String slice(String input, long axis, long from, long to, long by) {
            return step("Slice", input, list(from), list(to), list(axis), list(by));
        }

        /** Pieces of some lengths along an axis. */
        List<String> split(String input, long axis, List<Long> sizes) {
            NodeProto.Builder split = NodeProto.newBuilder()
                    .setOpType("Split")
                    .setName(tensorNames.unique(name + "/Split"))
                    .addInput(input)
                    .addInput(list(sizes.stream().mapToLong(Long::longValue).toArray()))
                    .addAttribute(whole("axis", axis));
            sizes.forEach(size -> split.addOutput(tensorNames.unique(name + "/piece")));
            nodes.add(split.build());
            return List.copyOf(split.getOutputList());
        }

        /** Those of the node's attributes that have one of some names. */
        List<AttributeProto> attributes(String... keys) {
            return node.getAttributeList().stream()
                    .filter(attribute -> List.of(keys).contains(attribute.getName()))
                    .toList();
        }

        static AttributeProto number(String key, double value) {
            return AttributeProto.newBuilder()
                    .setName(key)
                    .setType(AttributeType.FLOAT)
                    .setF((float) value)
                    .build();
        }

        String scatter(String reduction, String input, String indices, String updates) {
            return add(NodeProto.newBuilder()
                    .setOpType("ScatterElements")
                    .addAllInput(List.of(input, indices, updates))
                    .addAttribute(text("reduction", reduction)));
        }

        String cast(String input, DataType type) {
            return add(NodeProto.newBuilder()
                    .setOpType("Cast")
                    .addInput(input)
                    .addAttribute(whole("to", OnnxTypes.of(type).getNumber())));
        }

        static AttributeProto longs(String key, long... values) {
            return AttributeProto.newBuilder()
                    .setName(key)
                    .setType(AttributeType.INTS)
                    .addAllInts(Arrays.stream(values).boxed().toList())
                    .build();
        }

        String step(String operator, String... inputs) {
            return add(NodeProto.newBuilder().setOpType(operator).addAllInput(List.of(inputs)));
        }

        String along(String operator, long axis, String... inputs) {
            return add(NodeProto.newBuilder()
                    .setOpType(operator)
                    .addAllInput(List.of(inputs))
                    .addAttribute(whole("axis", axis)));
        }

        static AttributeProto whole(String key, long value) {
            return AttributeProto.newBuilder()
                    .setName(key)
                    .setType(AttributeType.INT)
                    .setI(value)
                    .build();
        }

        /** A step with the attributes of the node that is replaced. */
        String copied(String operator, String... inputs) {
            return add(NodeProto.newBuilder()
                    .setOpType(operator)
                    .addAllInput(List.of(inputs))
                    .addAllAttribute(node.getAttributeList()));
        }

        /** One number of all elements. */
        String reduced(String operator, String input) {
            return add(
                    NodeProto.newBuilder().setOpType(operator).addInput(input).addAttribute(whole("keepdims", 0)));
        }

        /** One number of all elements along an axis, which stays with a length of one. */
        String reducedAlong(String operator, String input, long axis) {
            return add(
                    NodeProto.newBuilder().setOpType(operator).addInput(input).addAttribute(longs("axes", axis)));
        }

        /** Lets a tensor be an output, if anybody wants that. */
        void output(int index, String tensor) {
            if (index < node.getOutputCount() && !node.getOutput(index).isEmpty()) {
                nodes.add(Functions.identity(tensor, node.getOutput(index)));
            }
        }

        String add(NodeProto.Builder step) {
            String output = tensorNames.unique(name + "/" + step.getOpType());
            nodes.add(step.setName(output).addOutput(output).build());
            return output;
        }

        /** Lets the node that came last make the output. */
        void finish() {
            NodeProto last = nodes.removeLast();
            nodes.add(last.toBuilder().setOutput(0, node.getOutput(0)).build());
        }
    }

    /** The largest or smallest truth value: as a number, because older versions have none of truth values. */
    static void extremeOfTruths(NodeReading node, Steps steps) {
        List<Long> axes = node.has(1) ? node.longs(1, "axes") : List.of();
        String result = steps.input(0);
        if (!axes.isEmpty() || !node.flag("noop_with_empty_axes", false)) {
            NodeProto.Builder reduction = NodeProto.newBuilder()
                    .setOpType(steps.copy().getOpType())
                    .addInput(steps.cast(result, DataType.UINT8))
                    .addAllAttribute(steps.attributes("keepdims"));
            if (!axes.isEmpty()) {
                reduction.addAttribute(Steps.longs(
                        "axes", axes.stream().mapToLong(Long::longValue).toArray()));
            }
            result = steps.add(reduction);
        }
        steps.output(0, steps.cast(result, DataType.BOOL));
    }

    /** {@code min(max(x, least), most)}, whichever bounds there are. */
    static void clip(NodeReading node, Steps steps) {
        String clipped = steps.input(0);
        if (node.has(1)) {
            clipped = steps.step("Max", clipped, steps.input(1));
        }
        if (node.has(2)) {
            steps.step("Min", clipped, steps.input(2));
        }
        steps.finish();
    }

    /**
     * Picks with the last axis of the indices as a position along the first axes of the tensor: the same as picking from a
     * tensor with those axes made one, with the position {@code (i₀ · d₁ + i₁) · d₂ + …}.
     */
    static void gatherNd(NodeReading node, Steps steps) {
        node.require(node.whole("batch_dims", 0) == 0, "batch_dims must be 0");
        int rank = node.shape(0).rank();
        int count = indices(node);
        String position = position(steps, count);
        String shape = steps.list(-1);
        if (count < rank) {
            shape = steps.along("Concat", 0, shape, steps.lengths(steps.input(0), count, rank));
        }
        steps.along("Gather", 0, steps.step("Reshape", steps.input(0), shape), position);
        steps.finish();
    }

    /** How many of the tensor's axes the last axis of the indices has a place along. */
    static int indices(NodeReading node) {
        int rank = node.shape(0).rank();
        node.require(node.shape(1).rank() >= 1, "the indices have no axis");
        Dimension last = node.shape(1).get(-1);
        node.require(
                last.isKnown() && last.value() >= 1 && last.value() <= Math.min(rank, MOST_INDICES),
                "the last axis of the indices " + node.shape(1) + " must be 1 to " + rank + " long");
        return (int) last.value();
    }

    /** The indices as positions along the tensor's first axes made one. */
    static String position(Steps steps, int count) {
        String lengths = steps.step("Shape", steps.input(0));
        String position = "";
        for (int axis = 0; axis < count; axis++) {
            String which = steps.constant(axis);
            String length = steps.along("Gather", 0, lengths, which);
            // Modulo the length, because negative indices count from the end.
            String index = steps.step("Mod", steps.along("Gather", -1, steps.input(1), which), length);
            position = axis == 0 ? index : steps.step("Add", steps.step("Mul", position, length), index);
        }
        return position;
    }
}
