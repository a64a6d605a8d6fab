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
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
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

    private static String output(Class<?> program, String... arguments) throws IOException {
        List<String> words = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "--add-modules",
                "jdk.incubator.vector",
                "-Dai.djl.offline=true",
                "-classpath",
                System.getProperty("java.class.path"),
                program.getName()));
        words.addAll(List.of(arguments));
        Process process = new ProcessBuilder(words).redirectErrorStream(true).start();
        return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    }

    /** Asks for GPUs in every way, and tells whether that has loaded libtorch; then has it loaded. */
    static final class Asking {
        private Asking() {}

        public static void main(String[] arguments) throws IOException {
            System.out.println("driver: " + CudaSteps.whyNoGpu().isEmpty());
            System.out.println("reasons: "
                    + (Device.gpu(0).whyNot().isPresent()
                            && Device.gpu(0).whyNotTrained().isPresent()
                            && Device.gpus().isEmpty()));
            System.out.println("asked: " + isLoaded());
            try (Network _ = new Network(Models.perceptron(2, 2), Device.CPU)) {
                System.out.println("used: " + isLoaded());
            }
        }

        private static boolean isLoaded() throws IOException {
            return Files.readString(Path.of("/proc/self/maps")).contains("libtorch_cpu");
        }
    }

    /** In a process of its own, where libtorch is not loaded yet. */
    @Test
    void whereThereIsNoDriverNobodyLoadsLibtorchToFindThatOut() throws IOException {
        assumeTrue(Files.exists(Path.of("/proc/self/maps")), "the system does not tell what is loaded");
        String output = output(Asking.class);
        assumeTrue(output.contains("driver: false"), "there is a GPU here");
        assertTrue(output.contains("reasons: true"), output);
        assertTrue(output.contains("asked: false"), output);
        assertTrue(output.contains("used: true"), output);
    }

    @Test
    void theCpuCanAlwaysBeTrainedOn() {
        assertEquals(Optional.empty(), Device.CPU.whyNotTrained());
        for (Device gpu : Device.gpus()) {
            assertEquals(Optional.empty(), gpu.whyNotTrained());
        }
    }

    /** In a process of its own, as libtorch asks once. */
    @Test
    void theCpuUsesSoManyThreads() throws IOException {
        String output = output(Threads.class, "3");
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
