package dev.espalier.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.bench.ModelShapes;
import dev.espalier.engine.Device;
import dev.espalier.engine.Precision;
import org.junit.jupiter.api.Test;

/** {@code espalier bench}, of whole training steps: a real model, few samples. */
final class BenchCommandTest {
    @Test
    void wholeTrainingStepsAreMeasured() {
        Answer answer =
                Answer.to("bench", "--training", "--batch", "2", "--rounds", "1", "--precision", "float32", "--parts");
        assertEquals(0, answer.exitStatus(), answer.err());
        assertTrue(answer.out().startsWith("vgg16, 2 samples a step, FLOAT32, cpu, PyTorch"), answer.out());
        assertTrue(
                answer.out()
                        .matches("(?s).*one by one +[\\d.]+ ms \\(least [\\d.]+\\) +[\\d.,]+ samples/s +loss \\d.*"),
                answer.out());
        assertTrue(
                answer.out().matches("(?s).*queueing +[\\d.]+ ms.*Part by part.*pass +[\\d.]+ ms.*zeroing.*"),
                answer.out());
    }

    /** Six steps on four batches of four images, the last of which is learned by then. */
    @Test
    void theStepsThatAreMeasuredTrain() {
        TrainingBench few = bench(1);
        TrainingBench more = bench(12);
        assertTrue(more.loss() < few.loss(), few.loss() + ", then " + more.loss());
        assertTrue(more.least() > 0 && more.least() <= more.millisecondsOfStep());
    }

    @Test
    void loadingIsMeasuredWithoutAModel() {
        Answer answer = Answer.to("bench", "--loading", "../recipes/digits.toml", "--loaders", "2", "--rounds", "1");
        assertEquals(0, answer.exitStatus(), answer.err());
        assertTrue(
                answer.out().matches("digits.toml, 2 threads: [\\d,]+ samples/s \\(first epoch [\\d,]+\\)\\R"),
                answer.out());
    }

    private static TrainingBench bench(int steps) {
        return TrainingBench.of(ModelShapes.VGG16, 4, Device.CPU, Precision.FLOAT32, true, steps, _ -> {});
    }
}
