package dev.espalier.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;

/** The examples say what their documentation promises. */
final class ExamplesTest {

    @Test
    void theNoiseIsDroppedAndNothingElse() throws Exception {
        String output = Programs.outputOf(DropNoiseInputs.class);
        assertTrue(output.contains("01Linear_weight: 10 of 20 groups are exactly zero"), output);
        assertTrue(output.contains("inputs left: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]"), output);
        assertTrue(output.matches("(?s).*accuracy on new samples: (0\\.9|1\\.0).*"), output);
        assertTrue(output.contains("10 inputs have no weight, 10 outputs are not read"), output);
        assertTrue(output.contains("pruned.onnx"), output);
    }

    @Test
    void anOnnxModelIsTrainedPrunedAndWrittenBack() throws Exception {
        String output = Programs.outputOf(TrainOnnxModel.class);
        assertTrue(output.contains("hidden.weight: 10 of 20 groups are exactly zero"), output);
        // Whether the inputs without weight are cut out too depends on what is measured to be faster.
        assertTrue(output.matches("(?s).*why=(10 inputs have no weight, )?13 outputs are not read.*"), output);
        assertTrue(output.contains("pruned.onnx"), output);
    }

    @Test
    void anOwnModelIsTrainedAndPruned() throws Exception {
        String output = Programs.outputOf(TrainOwnModel.class);
        assertTrue(output.matches("(?s)accuracy 0\\.9\\d\\d with [1-6],\\d{3} of 8,970 parameters\n.*"), output);
        assertTrue(output.contains("report.html"), output);
    }

    @Test
    void aLoopOfOnesOwnPenalisesWhatItsRulesSay() throws Exception {
        List<String> lines = Programs.outputOf(OwnLoop.class).lines().toList();
        assertEquals(3, lines.size(), lines::toString);
        assertTrue(lines.getFirst().contains("01Linear_weight=GroupsLeft[groups=8, nonZero=2]"), lines::toString);
        assertFalse(lines.getFirst().contains("03Linear"), lines::toString);
        assertTrue(lines.get(1).contains("01Linear_weight=GroupsLeft[groups=16"), lines::toString);
        assertTrue(lines.get(1).contains("03Linear_weight=GroupsLeft[groups=1,"), lines::toString);
        assertEquals(lines.getFirst(), lines.get(2));
    }

    @Test
    void theCostBesideAdamIsTold() throws Exception {
        List<String> rounds = Programs.outputOf(BesideAdam.class).lines().toList();
        assertEquals(3, rounds.size(), rounds::toString);
        for (String round : rounds) {
            assertTrue(
                    round.matches(
                            "512 steps: DJL's Adam [0-9.]+ s, ProximalAdam [0-9.]+ s of the processor, [0-9.]+ times"),
                    round);
        }
    }
}
