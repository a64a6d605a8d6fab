package dev.espalier.graph.onnx;

import dev.espalier.graph.op.Recurrent;
import dev.espalier.graph.op.Recurrent.Cell;
import dev.espalier.graph.op.Recurrent.Direction;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Locale;

/** How recurrent layers are written. */
final class RecurrentReading {
    private RecurrentReading() {}

    static Recurrent rnn(NodeReading node) {
        boolean rectified = node.texts("activations").stream().anyMatch(RecurrentReading::isRelu);
        return read(node, rectified ? Cell.RELU : Cell.TANH);
    }

    static Recurrent gru(NodeReading node) {
        return read(node, node.flag("linear_before_reset", false) ? Cell.GRU_LINEAR_BEFORE_RESET : Cell.GRU);
    }

    static Recurrent lstm(NodeReading node) {
        node.require(!node.flag("input_forget", false), "input_forget 1 is not supported");
        return read(node, Cell.LSTM);
    }

    private static Recurrent read(NodeReading node, Cell cell) {
        Direction direction = direction(node);
        Recurrent recurrent = new Recurrent(
                cell, direction, node.whole("hidden_size", node.shape(2).get(-1).value()));
        List<String> usual = activations(recurrent);
        List<String> given = node.texts("activations");
        node.require(
                given.isEmpty() || String.join(" ", given).equalsIgnoreCase(String.join(" ", usual)),
                "activations " + given + " are not supported; " + usual + " are");
        node.require(!node.hasAttribute("clip"), "clip is not supported");
        node.require(!node.flag("layout", false), "layout 1 is not supported: the batch must be the second axis");
        return recurrent;
    }

    private static boolean isRelu(String activation) {
        return activation.equalsIgnoreCase("Relu");
    }

    private static Direction direction(NodeReading node) {
        String given = node.text("direction", "forward");
        return Arrays.stream(Direction.values())
                .filter(direction -> name(direction).equals(given))
                .findFirst()
                .orElseThrow(() -> node.problem("direction " + given + " must be forward, reverse or bidirectional"));
    }

    private static String name(Direction direction) {
        return direction.name().toLowerCase(Locale.ROOT);
    }

    /** The functions of the gates and of the candidate, for each direction. */
    private static List<String> activations(Recurrent recurrent) {
        List<String> once = switch (recurrent.cell()) {
            case TANH -> List.of("Tanh");
            case RELU -> List.of("Relu");
            case GRU, GRU_LINEAR_BEFORE_RESET -> List.of("Sigmoid", "Tanh");
            case LSTM -> List.of("Sigmoid", "Tanh", "Tanh");
        };
        return Collections.nCopies(recurrent.directions(), once).stream()
                .flatMap(List::stream)
                .toList();
    }

    static void write(Recurrent recurrent, NodeWriting node) {
        node.whole("hidden_size", recurrent.hidden()).text("direction", name(recurrent.direction()));
        if (recurrent.cell() == Cell.RELU) {
            node.texts("activations", activations(recurrent));
        }
        node.flagIfSet("linear_before_reset", recurrent.cell() == Cell.GRU_LINEAR_BEFORE_RESET);
    }
}
