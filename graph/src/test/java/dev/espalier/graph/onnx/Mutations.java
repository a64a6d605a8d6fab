package dev.espalier.graph.onnx;

import ai.onnx.proto.OnnxMl.AttributeProto;
import ai.onnx.proto.OnnxMl.GraphProto;
import ai.onnx.proto.OnnxMl.ModelProto;
import ai.onnx.proto.OnnxMl.NodeProto;
import ai.onnx.proto.OnnxMl.TensorProto;
import ai.onnx.proto.OnnxMl.TensorShapeProto;
import ai.onnx.proto.OnnxMl.TypeProto;
import com.google.protobuf.ByteString;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/** Changes of a model that leave it a file, but seldom a sound model: numbers, wires, operators, shapes, bytes. */
final class Mutations {
    /** Numbers at which arithmetic breaks: the ends of types, and what is nearly a length or an axis. */
    private static final long[] AWKWARD = {
        0,
        1,
        -1,
        2,
        3,
        -2,
        7,
        64,
        65,
        1000,
        1 << 20,
        Integer.MAX_VALUE,
        Integer.MIN_VALUE,
        1L << 32,
        Long.MAX_VALUE,
        Long.MIN_VALUE,
        Long.MAX_VALUE / 2
    };

    private final Random random;
    private final List<String> operators;

    /**
     * Changes by chance.
     *
     * @param operators the names that a node may get
     */
    Mutations(Random random, List<String> operators) {
        this.random = random;
        this.operators = operators;
    }

    /** The model with one to four changes; every other one is made sparse first, so that there is something to prune. */
    byte[] mutate(ModelProto model) {
        GraphProto.Builder graph = model.getGraph().toBuilder();
        if (random.nextBoolean()) {
            graph.getInitializerBuilderList().forEach(this::sparsify);
        }
        for (int i = random.nextInt(4); i >= 0; i--) {
            switch (random.nextInt(10)) {
                case 0, 1 -> attribute(graph);
                case 2, 3 -> numbers(graph);
                case 4 -> zeros(graph);
                case 5 -> wire(graph);
                case 6 -> input(graph);
                case 7 -> operator(graph);
                case 8 -> dimensions(graph);
                default -> node(graph);
            }
        }
        byte[] bytes = model.toBuilder().setGraph(graph).build().toByteArray();
        if (random.nextInt(8) == 0) {
            bytes[random.nextInt(bytes.length)] ^= (byte) (1 << random.nextInt(8));
        }
        return bytes;
    }

    private long number() {
        return random.nextBoolean() ? random.nextInt(-4, 9) : AWKWARD[random.nextInt(AWKWARD.length)];
    }

    private void attribute(GraphProto.Builder graph) {
        NodeProto.Builder node = node(graph, NodeProto::getAttributeCount);
        if (node == null) {
            return;
        }
        int index = random.nextInt(node.getAttributeCount());
        AttributeProto.Builder attribute = node.getAttributeBuilder(index);
        if (random.nextInt(5) == 0) {
            node.removeAttribute(index);
        } else if (attribute.getIntsCount() > 0) {
            if (random.nextInt(4) == 0) {
                attribute.addInts(number());
            } else {
                attribute.setInts(random.nextInt(attribute.getIntsCount()), number());
            }
        } else {
            attribute.setI(number()).setF(random.nextInt(4) == 0 ? Float.NaN : number());
        }
    }

    /** A whole number of a list that is brought along: shapes, bounds, pads, axes. */
    private void numbers(GraphProto.Builder graph) {
        List<TensorProto.Builder> candidates = new ArrayList<>();
        for (TensorProto.Builder tensor : graph.getInitializerBuilderList()) {
            if (tensor.getDataType() == TensorProto.DataType.INT64_VALUE) {
                candidates.add(tensor);
            }
        }
        for (NodeProto.Builder node : graph.getNodeBuilderList()) {
            if (node.getOpType().equals("Constant")) {
                node.getAttributeBuilderList().stream()
                        .filter(attribute ->
                                attribute.hasT() && attribute.getT().getDataType() == TensorProto.DataType.INT64_VALUE)
                        .forEach(attribute -> candidates.add(attribute.getTBuilder()));
            }
        }
        if (candidates.isEmpty()) {
            return;
        }
        TensorProto.Builder list = candidates.get(random.nextInt(candidates.size()));
        int count = list.getRawData().size() / Long.BYTES;
        if (count > 0) {
            ByteBuffer bytes = ByteBuffer.wrap(list.getRawData().toByteArray()).order(ByteOrder.LITTLE_ENDIAN);
            bytes.putLong(random.nextInt(count) * Long.BYTES, number());
            list.setRawData(ByteString.copyFrom(bytes.array()));
        } else if (list.getInt64DataCount() > 0) {
            list.setInt64Data(random.nextInt(list.getInt64DataCount()), number());
        }
    }

    /** A stretch of zeros in weights, as training leaves it. */
    private void zeros(GraphProto.Builder graph) {
        if (graph.getInitializerCount() > 0) {
            TensorProto.Builder tensor = graph.getInitializerBuilder(random.nextInt(graph.getInitializerCount()));
            byte[] bytes = tensor.getRawData().toByteArray();
            int words = bytes.length / 4;
            if (words > 0 && tensor.getDataType() == TensorProto.DataType.FLOAT_VALUE) {
                int start = random.nextInt(words);
                int end = start + 1 + random.nextInt(words - start);
                Arrays.fill(bytes, 4 * start, 4 * end, (byte) 0);
                tensor.setRawData(ByteString.copyFrom(bytes));
            }
        }
    }

    /** About a third of the rows or columns of weights is set to zero. */
    private void sparsify(TensorProto.Builder tensor) {
        byte[] bytes = tensor.getRawData().toByteArray();
        if (tensor.getDimsCount() < 2
                || tensor.getDataType() != TensorProto.DataType.FLOAT_VALUE
                || bytes.length == 0) {
            return;
        }
        int axis = random.nextInt(2);
        int rows = (int) tensor.getDims(0);
        int columns = (int) tensor.getDims(1);
        int inner = bytes.length / (rows * columns);
        boolean[] zero = new boolean[axis == 0 ? rows : columns];
        for (int i = 0; i < zero.length; i++) {
            zero[i] = random.nextInt(3) == 0;
        }
        for (int row = 0; row < rows; row++) {
            for (int column = 0; column < columns; column++) {
                if (zero[axis == 0 ? row : column]) {
                    int start = (row * columns + column) * inner;
                    Arrays.fill(bytes, start, start + inner, (byte) 0);
                }
            }
        }
        tensor.setRawData(ByteString.copyFrom(bytes));
    }

    private void wire(GraphProto.Builder graph) {
        NodeProto.Builder node = node(graph, NodeProto::getInputCount);
        if (node != null) {
            List<String> names = new ArrayList<>(List.of("", "nothing"));
            graph.getNodeList().forEach(other -> names.addAll(other.getOutputList()));
            graph.getInputList().forEach(other -> names.add(other.getName()));
            graph.getInitializerList().forEach(other -> names.add(other.getName()));
            node.setInput(random.nextInt(node.getInputCount()), names.get(random.nextInt(names.size())));
        }
    }

    private void input(GraphProto.Builder graph) {
        if (graph.getInputCount() == 0) {
            return;
        }
        TypeProto.Tensor.Builder type = graph.getInputBuilder(random.nextInt(graph.getInputCount()))
                .getTypeBuilder()
                .getTensorTypeBuilder();
        TensorShapeProto.Builder shape = type.getShapeBuilder();
        if (random.nextInt(6) == 0) {
            type.setElemType(random.nextInt(17));
        } else if (shape.getDimCount() > 0 && random.nextInt(4) > 0) {
            TensorShapeProto.Dimension.Builder dimension = shape.getDimBuilder(random.nextInt(shape.getDimCount()));
            if (random.nextBoolean()) {
                dimension.setDimParam("free");
            } else {
                dimension.setDimValue(number());
            }
        } else {
            shape.addDimBuilder().setDimValue(number());
        }
    }

    private void operator(GraphProto.Builder graph) {
        NodeProto.Builder node = node(graph, any -> 1);
        if (node != null) {
            node.setOpType(operators.get(random.nextInt(operators.size())));
        }
    }

    private void dimensions(GraphProto.Builder graph) {
        if (graph.getInitializerCount() > 0) {
            TensorProto.Builder tensor = graph.getInitializerBuilder(random.nextInt(graph.getInitializerCount()));
            if (tensor.getDimsCount() > 1 && random.nextBoolean()) {
                // The same elements in another shape: a matrix is turned, or laid out flat.
                long first = tensor.getDims(0);
                tensor.setDims(0, tensor.getDims(1)).setDims(1, first);
            } else if (tensor.getDimsCount() > 0) {
                tensor.setDims(random.nextInt(tensor.getDimsCount()), number());
            } else {
                tensor.addDims(1);
            }
        }
    }

    private void node(GraphProto.Builder graph) {
        if (graph.getNodeCount() > 0) {
            int index = random.nextInt(graph.getNodeCount());
            switch (random.nextInt(3)) {
                case 0 -> graph.removeNode(index);
                case 1 -> {
                    String output = graph.getNode(index).getOutputCount() > 0
                            ? graph.getNode(index).getOutput(0)
                            : "";
                    graph.addOutputBuilder().setName(output);
                }
                default -> {
                    NodeProto.Builder node = graph.getNodeBuilder(index);
                    if (node.getInputCount() > 0 && random.nextBoolean()) {
                        node.addInput(node.getInput(random.nextInt(node.getInputCount())));
                    } else if (node.getOutputCount() > 0) {
                        node.addOutput(node.getOutput(0) + ".more");
                    }
                }
            }
        }
    }

    private NodeProto.@Nullable Builder node(GraphProto.Builder graph, ToIntFunction<NodeProto> has) {
        List<Integer> candidates = new ArrayList<>();
        for (int i = 0; i < graph.getNodeCount(); i++) {
            if (has.applyAsInt(graph.getNode(i)) > 0) {
                candidates.add(i);
            }
        }
        return candidates.isEmpty() ? null : graph.getNodeBuilder(candidates.get(random.nextInt(candidates.size())));
    }
}
