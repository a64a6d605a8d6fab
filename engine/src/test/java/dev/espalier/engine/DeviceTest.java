package dev.espalier.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ai.djl.pytorch.jni.JniUtils;
import dev.espalier.core.kernel.LaneChoice;
import dev.espalier.core.tensor.Place;
import dev.espalier.cuda.CudaSteps;
import dev.espalier.torch.Gpus;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class DeviceTest {

    @Test
    void whatIsPrintedCanBeRead() {
        for (Device device : List.of(Device.CPU, Device.gpu(0), Device.gpu(1), Device.gpu(12))) {
            assertEquals(device, Device.parse(device.toString()));
        }
        assertEquals(Device.CPU, Device.parse("cpu"));
        assertEquals(Device.gpu(0), Device.parse("gpu"));
        assertEquals(Device.gpu(0), Device.parse("gpu:0"));
        assertEquals(Place.gpu(3), Device.parse("gpu:3").place());
    }

    @Test
    void whatIsNoDeviceIsRefusedWithThoseThatAre() {
        for (String text : List.of("", "tpu", "gpu:", "gpu:-1", "gpu:x", "cpu:0", "gpu 1", "gpu:99999")) {
            String message = String.valueOf(assertThrows(IllegalArgumentException.class, () -> Device.parse(text))
                    .getMessage());
            assertTrue(message.contains("\"" + text + "\": it must be cpu, gpu"), message);
        }
        assertThrows(IllegalArgumentException.class, () -> Device.gpu(-1));
    }

    /** Computes with as many threads as it is told to, and tells how many. */
    static final class Threads {
        private Threads() {}

        public static void main(String[] arguments) {
            Device.useThreads(Integer.parseInt(arguments[0]));
            try (Network _ = new Network(Models.perceptron(2, 2), Device.CPU)) {
                System.out.println("threads: " + JniUtils.getNumThreads());
            }
        }
    }

    /** In a process of its own, as libtorch asks once. */
    @Test
    void theCpuUsesSoManyThreads() throws IOException {
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "--enable-native-access=ALL-UNNAMED",
                        "--add-modules",
                        "jdk.incubator.vector",
                        "-Dai.djl.offline=true",
                        "-classpath",
                        System.getProperty("java.class.path"),
                        Threads.class.getName(),
                        "3")
                .redirectErrorStream(true)
                .start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertTrue(output.contains("threads: 3"), output);
        assertThrows(IllegalArgumentException.class, () -> Device.useThreads(0));
    }

    @Test
    void aGpuThatIsNotThereSaysWhy() {
        assertEquals(Optional.empty(), Device.CPU.whyNot());
        assertEquals(Optional.of("no driver"), Device.gpu(0).whyNot(new Gpus.None("no driver")));
        assertEquals(Optional.empty(), Device.gpu(3).whyNot(new Gpus.Found(4)));
        String reason = Device.gpu(4).whyNot(new Gpus.Found(4)).orElseThrow();
        assertTrue(reason.contains("number 4") && reason.contains("gpu:3"), reason);
    }

    @Test
    void aNetworkCannotBeWhereNothingCanBeComputed() {
        Device none = Device.gpu(999);
        String reason = none.whyNot().orElseThrow();
        assertEquals(
                reason,
                assertThrows(IllegalArgumentException.class, () -> new Network(Models.perceptron(2, 2), none))
                        .getMessage());
    }

    @Test
    void stepsRunNearTheWeights() {
        assertEquals(LaneChoice.BEST, Device.CPU.kernels());
        assertTrue(Device.gpu(1).kernels() instanceof CudaSteps(int gpu, var _, var _) && gpu == 1);
    }

    @Test
    void aGpuThatIsThereIsTaken() {
        assumeTrue(Device.gpu(0).whyNot().isEmpty(), "there is no GPU here");
        try (Network network = new Network(Models.perceptron(2, 2), Device.gpu(0))) {
            assertEquals(Device.gpu(0), network.device());
            assertEquals(Place.gpu(0), network.weights().firstEntry().getValue().place());
        }
    }
}
