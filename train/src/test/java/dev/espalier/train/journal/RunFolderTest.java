package dev.espalier.train.journal;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

class RunFolderTest {
    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    Path temporary;

    @Test
    void metricsComeBackAsTheyWere() throws IOException {
        RunFolder folder = new RunFolder(temporary);
        List<Metrics> lines = List.of(metrics(10, 0.5), metrics(20, Double.NaN));
        for (Metrics line : lines) {
            folder.append(line);
        }
        assertEquals(lines, folder.metrics());
        assertEquals(
                List.of(Metric.share("accuracy"), new Metric("rmse", Metric.Unit.LABEL, Metric.Direction.LOWER)),
                List.copyOf(folder.metrics().getFirst().scores().keySet()));
        assertTrue(Files.readString(folder.metricsFile()).contains("\"train_loss\":0.5,"));
        assertTrue(Files.readString(folder.metricsFile()).contains("\"train_loss\":null,"));
    }

    @Test
    void linesOfOlderVersionsAreReadWithoutWhatTheyLack() throws IOException {
        RunFolder folder = new RunFolder(temporary);
        folder.append(metrics(10, 0.5));
        String line = Files.readString(folder.metricsFile());
        Files.writeString(folder.metricsFile(), line.replace(",\"data\":{\"unknown_tokens_test\":0.25}", ""));
        assertTrue(folder.metrics().getFirst().data().isEmpty());
    }

    @Test
    void findingsComeBackAsTheyWere() throws IOException {
        RunFolder folder = new RunFolder(temporary);
        assertEquals(Optional.empty(), folder.findings());
        Findings.Tally tally = new Findings.Tally("a", 5, 4, 3, 2);
        for (Findings.Outcome outcome : List.of(
                new Findings.Outcome.Classes(List.of(tally), List.of(new Findings.Confusion(0, 1, 7))),
                new Findings.Outcome.Labels(List.of(tally)),
                new Findings.Outcome.Quantities(
                        List.of(new Findings.Quantity(
                                "much",
                                0.5,
                                1,
                                2,
                                new Findings.Histogram(-1, 0.5, List.of(3L, 4L)),
                                List.of(1.0),
                                List.of(1.5))),
                        1),
                new Findings.Outcome.Answers(3, 2, 1),
                new Findings.Outcome.Fidelity(List.of(new Findings.Likeness(
                        "vector",
                        "embedding",
                        9,
                        new Findings.NotFinite(1, 0, List.of(4L)),
                        List.of(new FidelityFigure(FidelityFigure.Measure.COSINE, 0.9, 0.6)),
                        new Findings.Cosines(0.9, 0.95, 0.8, 0.7),
                        Findings.Cosines.NONE,
                        Double.NaN,
                        Double.NaN,
                        Double.NaN,
                        0.99,
                        0.1,
                        3,
                        new Findings.Histogram(0.8, 0.1, List.of(3L, 6L)),
                        List.of(new Findings.Deviant(7, 0.7, 3, "", ""))))),
                new Findings.Outcome.Unknown())) {
            Findings findings = new Findings(
                    new Findings.Samples(3, 0, 2),
                    outcome,
                    List.of(new Findings.Mistake(
                            1, List.of(new Findings.Glimpse.Words("x", "1")), "a", "b", "surely")));
            folder.write(findings);
            assertEquals(Optional.of(findings), folder.findings());
        }
        // Of a newer version, what is not known is left out.
        Files.writeString(
                folder.findingsFile(), Files.readString(folder.findingsFile()).replace("unknown", "something newer"));
        assertEquals(
                new Findings.Outcome.Unknown(), folder.findings().orElseThrow().outcome());
    }

    @Test
    void picturesComeBackAsTheyWere() throws IOException {
        RunFolder folder = new RunFolder(temporary);
        byte[] pixels = {0, 100, (byte) 255};
        folder.write(new Findings(
                new Findings.Samples(3, 0, 2),
                new Findings.Outcome.Unknown(),
                List.of(new Findings.Mistake(
                        1, List.of(new Findings.Glimpse.Picture("image", 1, 1, 3, pixels)), "a", "b", ""))));
        Findings.Mistake read = folder.findings().orElseThrow().mistakes().getFirst();
        assertArrayEquals(pixels, ((Findings.Glimpse.Picture) read.inputs().getFirst()).pixels());
    }

    @Test
    void aLineThatACrashCutOffIsLeftOut() throws IOException {
        RunFolder folder = new RunFolder(temporary);
        folder.append(metrics(10, 0.5));
        Files.writeString(folder.metricsFile(), "{\"step\":", StandardOpenOption.APPEND);
        assertEquals(List.of(metrics(10, 0.5)), folder.metrics());
        folder.keepMetrics(1);
        folder.append(metrics(20, 0.25));
        assertEquals(List.of(metrics(10, 0.5), metrics(20, 0.25)), folder.metrics());
    }

    @Test
    void aDamagedLineIsNamed() throws IOException {
        RunFolder folder = new RunFolder(temporary);
        Files.writeString(folder.metricsFile(), "{\"step\":\n");
        assertTrue(assertThrows(IOException.class, folder::metrics).toString().contains("metrics.jsonl is damaged"));
    }

    @Test
    void groupsWithoutANumberAreDamage() throws IOException {
        RunFolder folder = new RunFolder(temporary);
        folder.append(metrics(10, 0.5));
        String line = Files.readString(folder.metricsFile());
        Files.writeString(folder.metricsFile(), line.replace("{\"conv.weight\":3}", "{\"conv.weight\":\"\"}"));
        assertTrue(assertThrows(IOException.class, folder::metrics).toString().contains("metrics.jsonl is damaged"));
    }

    /** What changes by chance left of sound files. */
    @Test
    void whatIsNoResultIsRefusedAsDamaged() throws IOException {
        RunFolder folder = new RunFolder(temporary);
        for (String text : List.of(
                "",
                "null",
                "[]",
                "{}",
                "{\"scores\":{}}",
                "{\"metrics\":[null]}",
                "{\"metrics\":[{\"name\":\"a\"}]}",
                "\u00e4")) {
            Files.writeString(folder.resultFile(), text);
            Files.writeString(folder.findingsFile(), text);
            assertTrue(
                    assertThrows(IOException.class, folder::result).toString().contains("result.json is damaged"),
                    text);
            assertTrue(
                    assertThrows(IOException.class, folder::findings).toString().contains("is damaged"), text);
        }
        Files.write(folder.resultFile(), new byte[] {(byte) 0xff});
        assertTrue(assertThrows(IOException.class, folder::result).toString().contains("is no text in UTF-8"));
    }

    @Test
    void metricsThatAreMissingAreNotMadeUp() throws IOException {
        RunFolder folder = new RunFolder(temporary);
        folder.append(metrics(10, 0.5));
        assertThrows(IOException.class, () -> folder.keepMetrics(2));
    }

    @Test
    void aResultComesBackAsItWas() throws IOException {
        RunFolder folder = new RunFolder(temporary);
        assertEquals(Optional.empty(), folder.result());
        RunResult result = new RunResult(
                7,
                100,
                12.5,
                1e-3,
                0.1,
                new LinkedHashMap<>(Map.of(Metric.share("accuracy"), 0.97)),
                new LinkedHashMap<>(Map.of(Metric.share("accuracy"), 0.98)),
                0.5,
                0.4,
                1000,
                200,
                5000,
                2000,
                1e-6,
                2,
                1,
                new RunResult.Files(4000, 900, 4, 0.6, 0.4, 0));
        folder.write(result);
        assertEquals(Optional.of(result), folder.result());
        RunResult sized = result.withSize(new RunResult.Size("latency", 0.5, 0.6));
        folder.write(sized);
        assertEquals(Optional.of(sized), folder.result());
        assertEquals(0.25, sized.withLatency(4, 1).size().reached());
        assertEquals(0.2, result.parametersLeft());
        assertEquals(2, result.speedUp());
        // Earlier versions measured one thread only.
        Path file = temporary.resolve("result.json");
        Files.writeString(file, Files.readString(file).replaceFirst("(?s),\\s*\"files\" : \\{.*?\\}", ""));
        assertEquals(RunResult.Files.UNKNOWN, folder.result().orElseThrow().files());
    }

    @Test
    void provenanceComesBackAsItWas() throws IOException {
        RunFolder folder = new RunFolder(temporary);
        Provenance provenance = new Provenance("1", "abc", "now", 3, "25", "Linux", "aarch64", 2, "e", "k", "cpu");
        folder.write(provenance);
        assertEquals(provenance, folder.provenance());
    }

    @Test
    void aFolderThatHoldsSomethingIsNotTaken() throws IOException {
        RunFolder folder = new RunFolder(temporary.resolve("run"));
        folder.requireFree();
        assertFalse(Files.exists(folder.path()), "it was made, though nothing has begun");
        Files.createDirectory(folder.path());
        folder.requireFree();
        Files.writeString(folder.recipe(), "");
        assertThrows(DirectoryNotEmptyException.class, folder::requireFree);
        String message = String.valueOf(assertThrows(
                        FileSystemException.class,
                        () -> new RunFolder(folder.recipe().resolve("a").resolve("b")).requireFree())
                .getMessage());
        assertTrue(message.startsWith(folder.recipe().toString()), message);
    }

    @Test
    void aReasonComesBackAsItWas() throws IOException {
        RunFolder folder = new RunFolder(temporary.resolve("run"));
        assertEquals(Optional.empty(), folder.reason());
        folder.giveUp("the loss is NaN: lower optimizer.rate = 0.1");
        assertEquals(Optional.of("the loss is NaN: lower optimizer.rate = 0.1"), folder.reason());
    }

    /** Lines and results as versions wrote them that said group sparsity, and knew accuracy only. */
    @Test
    void whatOlderVersionsWroteCanBeRead() throws IOException {
        RunFolder folder = new RunFolder(temporary);
        Files.writeString(folder.metricsFile(), """
                {"step":12,"epoch":1.0,"phase":"sparsify","seconds":0.5,"samples_per_second":800.0,"learning_rate":0.01,\
                "lambda":0.01,"train_loss":2.1,"train_accuracy":0.25,"penalty":3.0,"loss":1.9,"scores":{"accuracy":0.3},\
                "group_sparsity":0.75,"iterations_per_group":1.5,"skipped_steps":0,"non_zero_groups":{"a":3}}
                """);
        Metrics line = folder.metrics().getFirst();
        assertEquals(Map.of(Metric.share("accuracy"), 0.25), line.trainScores());
        assertEquals(Map.of(Metric.share("accuracy"), 0.3), line.scores());
        assertEquals(0.75, line.groupsLeft());
        Files.writeString(folder.resultFile(), """
                {"seed":1,"steps":24,"seconds":1.0,"lambda":0.01,"loss":0.2,"scores":{"accuracy":0.9},\
                "pruned_scores":{"accuracy":0.9},"group_sparsity":0.75,"parameters_before":10,"parameters_after":5,\
                "flops_before":20,"flops_after":10,"max_abs_difference":0.0,"latency_milliseconds_before":1.0,\
                "latency_milliseconds_after":0.5}
                """);
        RunResult result = folder.result().orElseThrow();
        assertEquals(0.75, result.groupsLeft());
        assertEquals(Double.NaN, result.prunedGroupsLeft());
        assertEquals(RunResult.Size.NONE, result.size());
    }

    @Test
    void seedsAreRunsOfTheirOwnInOrder() throws IOException {
        RunFolder folder = new RunFolder(temporary);
        assertEquals(List.of(folder), folder.runs());
        Files.createDirectory(folder.seed(10).path());
        Files.createDirectory(folder.seed(9).path());
        Files.createDirectory(temporary.resolve("seed-x"));
        assertEquals(List.of(folder.seed(9), folder.seed(10)), folder.runs());
    }

    @Test
    void whoTrainsIsKnownWhileItLives() throws Exception {
        RunFolder folder = new RunFolder(temporary);
        assertEquals(Optional.empty(), folder.trainer());
        folder.enter();
        folder.enter(); // a process may go on with what it does
        assertEquals(Optional.of(ProcessHandle.current()), folder.trainer());
        folder.leave();
        assertEquals(Optional.empty(), folder.trainer());
        Process other = new ProcessBuilder("sleep", "600").start();
        long started = other.info().startInstant().map(Instant::toEpochMilli).orElse(0L);
        JsonFile.write(folder.trainerFile(), new Trainer(other.pid(), started));
        assertEquals(Optional.of(other.toHandle()), folder.trainer());
        String refused = String.valueOf(
                assertThrows(IllegalArgumentException.class, folder::enter).getMessage());
        assertTrue(refused.contains("process " + other.pid() + " trains in " + temporary), refused);
        // Another that has got the same number since.
        JsonFile.write(folder.trainerFile(), new Trainer(other.pid(), started - 60_000));
        assertEquals(Optional.empty(), folder.trainer());
        JsonFile.write(folder.trainerFile(), new Trainer(other.pid(), started));
        other.destroy();
        other.waitFor();
        assertEquals(Optional.empty(), folder.trainer());
        folder.enter();
    }

    /** What a cut of the power leaves of a file that was never forced to disk: nobody trains any more. */
    @Test
    void aTrainerThatCannotBeReadIsNobody() throws IOException {
        RunFolder folder = new RunFolder(temporary);
        for (String left : List.of("", "{", "null")) {
            Files.writeString(folder.trainerFile(), left);
            assertEquals(Optional.empty(), folder.trainer(), left);
        }
        folder.enter();
        assertEquals(Optional.of(ProcessHandle.current()), folder.trainer());
        Files.writeString(folder.resultFile(), "");
        String message =
                String.valueOf(assertThrows(IOException.class, folder::result).getMessage());
        assertTrue(message.contains("result.json is damaged"), message);
    }

    /** Of processes that want to train in one folder at the same moment, one does, and the others are told its number. */
    @Test
    @Timeout(120)
    void oneProcessOfSeveralMayTrain() throws Exception {
        List<Process> all = new ArrayList<>();
        try {
            for (int i = 0; i < 4; i++) {
                all.add(new ProcessBuilder(
                                Path.of(System.getProperty("java.home"), "bin", "java")
                                        .toString(),
                                "-XX:TieredStopAtLevel=1",
                                "-classpath",
                                System.getProperty("java.class.path"),
                                Entering.class.getName(),
                                temporary.toString())
                        .redirectError(ProcessBuilder.Redirect.INHERIT)
                        .start());
            }
            for (Process process : all) {
                assertEquals("ready", process.inputReader().readLine());
            }
            for (Process process : all) { // now, all of them
                process.outputWriter().write("\n");
                process.outputWriter().flush();
            }
            List<String> said = new ArrayList<>();
            for (Process process : all) {
                said.add(process.inputReader().readLine());
            }
            int first = said.indexOf("in");
            assertTrue(first >= 0 && said.lastIndexOf("in") == first, said::toString);
            said.remove(first);
            long pid = all.get(first).pid();
            assertTrue(
                    said.stream().allMatch(words -> words.startsWith("process " + pid + " trains in ")),
                    said::toString);
        } finally {
            all.forEach(Process::destroyForcibly);
        }
    }

    /** A process that enters a folder when it is told to, and stays. */
    static final class Entering {
        private Entering() {}

        /** Enters the folder that is given. */
        public static void main(String[] arguments) throws IOException {
            System.out.println("ready");
            System.in.read();
            try {
                new RunFolder(Path.of(arguments[0])).enter();
                System.out.println("in");
            } catch (IllegalArgumentException refused) {
                System.out.println(refused.getMessage());
            }
            while (System.in.read() >= 0) {
                // until it is over
            }
        }
    }

    @Test
    void aNewRunHasAFolderOfItsOwn() throws IOException {
        RunFolder first = RunFolder.fresh(temporary, "name");
        assertTrue(first.path().getFileName().toString().matches("name-\\d{8}-\\d{6}"), first::toString);
        Files.createDirectory(first.path());
        assertFalse(RunFolder.fresh(temporary, "name").equals(first));
    }

    @Test
    void spreadIsThatOfASample() {
        assertEquals(new Spread(2, 1, 3), Spread.of(List.of(1.0, 2.0, 3.0)));
        assertEquals("97.0 ± 1.0 %", Spread.of(List.of(0.96, 0.97, 0.98)).percent());
        assertEquals("97.0 %", Spread.of(List.of(0.97)).percent());
    }

    private static Metrics metrics(long step, double loss) {
        LinkedHashMap<Metric, Double> scores = new LinkedHashMap<>();
        scores.put(Metric.share("accuracy"), 0.9);
        scores.put(new Metric("rmse", Metric.Unit.LABEL, Metric.Direction.LOWER), 12.5);
        return new Metrics(
                step,
                1.5,
                "sparsify",
                3,
                1000,
                1e-3,
                1e-4,
                loss,
                new LinkedHashMap<>(Map.of(new Metric("r2", Metric.Unit.NUMBER, Metric.Direction.HIGHER), 0.9)),
                0.01,
                0.4,
                scores,
                0.7,
                1.2,
                0,
                new LinkedHashMap<>(Map.of("conv.weight", 3)),
                new LinkedHashMap<>(Map.of("unknown_tokens_test", 0.25)));
    }
}
