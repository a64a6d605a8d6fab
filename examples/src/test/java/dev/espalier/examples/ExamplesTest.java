package dev.espalier.examples;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

/** The examples say what their documentation promises. */
final class ExamplesTest {

    /** A main method. */
    private interface Program {
        void main(String... arguments) throws Exception;
    }

    private static String output(Program program) throws Exception {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        PrintStream console = System.out;
        try (PrintStream captured = new PrintStream(bytes, true, StandardCharsets.UTF_8)) {
            System.setOut(captured);
            program.main();
        } finally {
            System.setOut(console);
        }
        return bytes.toString(StandardCharsets.UTF_8);
    }

    @Test
    void theNoiseIsDroppedAndNothingElse() throws Exception {
        String output = output(DropNoiseInputs::main);
        assertTrue(output.contains("01Linear_weight: 10 of 20 groups are exactly zero"), output);
        assertTrue(output.contains("inputs left: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]"), output);
        assertTrue(output.matches("(?s).*accuracy on new samples: (0\\.9|1\\.0).*"), output);
    }

    @Test
    void anOnnxModelIsTrainedPrunedAndWrittenBack() throws Exception {
        String output = output(TrainOnnxModel::main);
        assertTrue(output.contains("hidden.weight: 10 of 20 groups are exactly zero"), output);
        assertTrue(output.contains("10 inputs have no weight"), output);
        assertTrue(output.contains("pruned.onnx"), output);
    }

    @Test
    void anOwnModelIsTrainedAndPruned() throws Exception {
        String output = output(TrainOwnModel::main);
        assertTrue(output.matches("(?s)accuracy 0\\.9\\d\\d with [1-6],\\d{3} of 8,970 parameters\n.*"), output);
        assertTrue(output.contains("report.html"), output);
    }
}
