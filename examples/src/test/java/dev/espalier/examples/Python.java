package dev.espalier.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Assumptions;

/**
 * Python in the documentation. Its syntax is checked where there is a Python ({@code ESPALIER_PYTHON}, or {@code python3} on
 * the path), and it is run where that Python has PyTorch. Where it has not, a model that was exported once takes the place of
 * the one that is not, so that the samples behind it run everywhere.
 */
final class Python {
    private static final String PROGRAM =
            Optional.ofNullable(System.getenv("ESPALIER_PYTHON")).orElse("python3");
    private static final Path EXPORTED = Path.of("net.onnx");

    private Python() {}

    /** Whether there is no Python, or it cannot run a line. */
    private static boolean fails(String line) {
        try {
            return new ProcessBuilder(PROGRAM, "-c", line)
                            .redirectErrorStream(true)
                            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                            .start()
                            .waitFor()
                    != 0;
        } catch (IOException missing) {
            return true;
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            return true;
        }
    }

    /** Checks the syntax. */
    static void check(Block block) throws IOException, InterruptedException {
        Assumptions.assumeFalse(fails("pass"), "no " + PROGRAM + " here; ESPALIER_PYTHON names another");
        Path source = Files.createTempFile("espalier", ".py");
        Files.writeString(source, block.text());
        answer(
                block.place(),
                List.of(PROGRAM, "-c", "import ast, sys; ast.parse(open(sys.argv[1]).read())", source.toString()));
    }

    /** Runs the file that a command names. */
    static String run(Block block, Command command) throws IOException, InterruptedException {
        Files.copy(Sandbox.exported(), EXPORTED, java.nio.file.StandardCopyOption.REPLACE_EXISTING);
        String stored = inspect();
        Assumptions.assumeFalse(
                fails("import torch, onnxscript"),
                PROGRAM + " has no torch and onnxscript; ESPALIER_PYTHON names a Python that has");
        Files.delete(EXPORTED);
        String output = answer(block.place(), List.of(PROGRAM, command.words().get(1)));
        assertEquals(stored, inspect(), "the stored model is not what " + command.line() + " exports: replace it");
        return output;
    }

    private static String inspect() {
        return ShellSamples.espalier("inspect", "", List.of("inspect", EXPORTED.toString()));
    }

    private static String answer(String place, List<String> command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output;
        try (InputStream printed = process.getInputStream()) {
            output = new String(printed.readAllBytes(), StandardCharsets.UTF_8);
        }
        assertEquals(0, process.waitFor(), () -> place + " fails:\n" + output);
        return output;
    }
}
