package dev.espalier.core.kernel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.core.rule.UpdateRule;
import dev.espalier.core.schedule.LearningRate;
import dev.espalier.core.step.Optimizer;
import dev.espalier.core.step.Parameter;
import dev.espalier.core.step.ParameterSet;
import dev.espalier.core.step.StepOptions;
import dev.espalier.core.tensor.ElementType;
import dev.espalier.core.tensor.TensorView;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Which lanes a JVM gets, with and without the Vector API: it can only be seen from another JVM. */
class LaneChoiceTest {

    /** One step of a small model; says what it ran on and what became of a weight. */
    static final class Step {
        private Step() {}

        public static void main(String[] arguments) {
            ParameterSet set = ParameterSet.of(LearningRate.constant(0.5), Parameter.of("w", 8));
            try (Arena arena = Arena.ofShared();
                    Optimizer optimizer =
                            new Optimizer(new UpdateRule.Sgd(), List.of(set), StepOptions.DEFAULT.withThreads(1))) {
                TensorView weights = TensorView.of(arena.allocate(32, 64), ElementType.FLOAT32, 8);
                TensorView gradient = TensorView.of(arena.allocate(32, 64), ElementType.FLOAT32, 8);
                gradient.set(7, 3);
                optimizer.step(Map.of("w", weights), Map.of("w", gradient));
                System.out.println(optimizer.kernelName() + ": " + weights.get(7));
            }
        }
    }

    @Test
    void withoutTheVectorApiStepsRunOnOneLaneAndTheLogSaysWhatWouldHelp() throws IOException, InterruptedException {
        String output = runStep();
        assertTrue(output.contains("scalar, 1 threads: -1.5"), output);
        assertTrue(output.contains("--add-modules jdk.incubator.vector"), output);
    }

    @Test
    void withTheVectorApiStepsRunOnVectors() throws IOException, InterruptedException {
        String output = runStep("--add-modules", "jdk.incubator.vector");
        assertTrue(output.contains("vector, ") && output.contains("lanes, 1 threads: -1.5"), output);
    }

    private static String runStep(String... options) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path")));
        command.addAll(1, List.of(options));
        command.add(Step.class.getName());
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, process.waitFor(), output);
        return output;
    }
}
