package dev.espalier.graph.onnx;

import ai.onnx.proto.OnnxMl.AttributeProto;
import ai.onnx.proto.OnnxMl.AttributeProto.AttributeType;
import ai.onnx.proto.OnnxMl.NodeProto;
import dev.espalier.graph.type.Dimension;
import dev.espalier.graph.type.Shape;
import dev.espalier.graph.type.Tensor;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The one use of sequences that is understood: an exporter that does not optimize writes a split as a sequence from which
 * single pieces are taken. The sequence becomes a split, and taking a piece becomes the piece.
 */
final class Sequences {
    /** The operators that are read here. */
    static final Set<String> OPERATORS = Set.of("SplitToSequence", "SequenceAt");

    private static final int MOST_PIECES = 4096;

    private final Names tensorNames;
    private final Map<String, List<String>> pieces = new HashMap<>();

    Sequences(Names tensorNames) {
        this.tensorNames = tensorNames;
    }

    /** Refuses a sequence anywhere but where a piece is taken from it. */
    void refuseElsewhere(NodeProto node, NodeReading reading) {
        for (String input : node.getInputList()) {
            reading.require(
                    !pieces.containsKey(input),
                    "it reads the sequence " + input + "; sequences are supported only for SequenceAt");
        }
    }

    /** The node that takes the place of one that makes or reads a sequence. */
    NodeProto replace(String name, NodeProto node, NodeReading reading) {
        return node.getOpType().equals("SequenceAt") ? at(name, node, reading) : split(name, node, reading);
    }

    private NodeProto at(String name, NodeProto node, NodeReading reading) {
        List<String> tensors = pieces.get(node.getInputCount() == 0 ? "" : node.getInput(0));
        if (tensors == null) {
            throw reading.problem("its input 0 is no sequence that a SplitToSequence made");
        }
        int position = Shape.axis(reading.whole(1, "the position"), tensors.size());
        return NodeProto.newBuilder()
                .setName(name)
                .setOpType("Identity")
                .addInput(tensors.get(position))
                .addOutput(node.getOutput(0))
                .build();
    }

    private NodeProto split(String name, NodeProto node, NodeReading reading) {
        long axis = reading.whole("axis", 0);
        List<Long> sizes = sizes(reading, axis);
        List<String> tensors = new ArrayList<>();
        for (int i = 0; i < sizes.size(); i++) {
            tensors.add(tensorNames.unique(node.getOutput(0) + "/" + i));
        }
        pieces.put(node.getOutput(0), tensors);
        return NodeProto.newBuilder()
                .setName(name)
                .setOpType("Split")
                .addInput(node.getInput(0))
                // Where one length stands for all of them, Split tells it from the number of its outputs.
                .addInput(reading.shape(1).rank() == 1 ? node.getInput(1) : "")
                .addAllOutput(tensors)
                .addAttribute(AttributeProto.newBuilder()
                        .setName("axis")
                        .setType(AttributeType.INT)
                        .setI(axis))
                .build();
    }

    private static List<Long> sizes(NodeReading reading, long axis) {
        reading.require(reading.has(1), "the lengths of the pieces (input 1) are missing");
        Tensor split = reading.constant(1, "the lengths of the pieces");
        reading.require(split.size() <= MOST_PIECES, "there may be at most " + MOST_PIECES + " pieces");
        if (split.rank() == 1) {
            return reading.longs(1, "the lengths of the pieces");
        }
        Dimension length = reading.shape(0).get(axis);
        long size = reading.whole(1, "the length of a piece");
        reading.require(
                length.isKnown() && size >= 1 && length.value() % size == 0 && length.value() / size <= MOST_PIECES,
                "a length of " + length + " does not fall into equal pieces of " + size);
        return Collections.nCopies((int) (length.value() / size), size);
    }
}
