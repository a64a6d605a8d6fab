package dev.espalier.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.train.journal.Metric;
import dev.espalier.train.journal.Metrics;
import dev.espalier.train.journal.RunFolder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code espalier report}, from folders to pages. */
final class ReportCommandTest {
    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path folder;

    private RunFolder training(String name) throws IOException {
        RunFolder run = new RunFolder(folder.resolve(name));
        Files.createDirectories(run.path());
        for (int epoch = 1; epoch <= 2; epoch++) {
            run.append(new Metrics(
                    10L * epoch,
                    epoch,
                    "sparsify",
                    epoch,
                    100,
                    1e-3,
                    1e-4,
                    1.0 / epoch,
                    new LinkedHashMap<>(Map.of(Metric.share("accuracy"), 0.5)),
                    0.1,
                    1.1 / epoch,
                    new LinkedHashMap<>(Map.of(Metric.share("accuracy"), 0.4 + 0.1 * epoch)),
                    1 - 0.1 * epoch,
                    2,
                    0,
                    new LinkedHashMap<>(Map.of("conv.weight", 10 - epoch)),
                    new LinkedHashMap<>()));
        }
        return run;
    }

    @Test
    void theReportOfARunLiesInItsFolder() throws IOException {
        RunFolder run = training("digits");
        Files.writeString(run.report(), "an older report");
        Answer answer = Answer.to("report", run.path());
        assertEquals(0, answer.exitStatus(), answer.err());
        assertEquals(run.report().toString(), answer.out().strip());
        assertTrue(Files.readString(run.report()).contains("<h1>digits "));
    }

    @Test
    void severalRunsAreCompared() throws IOException {
        Path page = folder.resolve("both.html");
        RunFolder one = training("one");
        RunFolder two = training("two");
        Answer answer = Answer.to("report", one.path(), two.path(), "-o", page);
        assertEquals(0, answer.exitStatus(), answer.err());
        assertTrue(Files.readString(page).contains("2 runs, side by side"));
        assertFalse(Files.exists(one.report()));
    }

    @Test
    void aFolderThatIsNoRunIsAWrongArgument() throws IOException {
        Answer missing = Answer.to("report", folder.resolve("missing"));
        assertEquals(2, missing.exitStatus());
        assertTrue(missing.err().contains("no such file: "), missing.err());
        Answer empty = Answer.to("report", Files.createDirectory(folder.resolve("empty")));
        assertEquals(2, empty.exitStatus());
        assertTrue(empty.err().contains("is no folder of a run"), empty.err());
        Answer file = Answer.to("report", Files.createFile(folder.resolve("model.onnx")));
        assertEquals(2, file.exitStatus());
        assertTrue(file.err().contains("model.onnx is a file: give the folder of a run"), file.err());
        assertEquals(2, Answer.to("report").exitStatus());
    }
}
