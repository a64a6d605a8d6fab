package dev.espalier.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.graph.model.Mlp;
import dev.espalier.graph.model.Weights;
import dev.espalier.graph.onnx.OnnxWriter;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TelemetryTest {
    /** What the other process runs. */
    static final class Program {
        private Program() {}

        public static void main(String[] arguments) {
            new OnnxRuntimeModel(Path.of(arguments[0]), 1).close();
        }
    }

    /** Without the variable ONNX Runtime writes a device's number at home, and overflows its stack on a command line like this. */
    @Test
    void nobodyIsToldAndALongClassPathDoesNoHarm(@TempDir Path home) throws IOException, InterruptedException {
        Path file = home.resolve("model.onnx");
        OnnxWriter.write(Mlp.ofVectors(2, 3, List.of(4), Weights.seeded(1)), file);
        Path said = home.resolve("said.txt");
        String path =
                System.getProperty("java.class.path") + (File.pathSeparator + home.resolve("nothing.jar")).repeat(1000);
        ProcessBuilder process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "--enable-native-access=ALL-UNNAMED",
                        "-cp",
                        path,
                        Program.class.getName(),
                        file.toString())
                .redirectErrorStream(true)
                .redirectOutput(said.toFile());
        process.environment().remove("ORT_DISABLE_TELEMETRY");
        process.environment().put("HOME", home.toString());
        process.environment().remove("XDG_CACHE_HOME");
        Process running = process.start();
        assertTrue(running.waitFor(60, TimeUnit.SECONDS), "it does not end");
        assertEquals(0, running.exitValue(), Files.readString(said));
        try (Stream<Path> files = Files.walk(home)) {
            assertEquals(2, files.filter(Files::isRegularFile).count(), "something was written at home");
        }
    }
}
