package dev.espalier.train.study;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.espalier.engine.Device;
import dev.espalier.train.study.Outcome.End;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DeviceDealTest {
    private static final List<Device> TWO = List.of(Device.gpu(0), Device.gpu(1));

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    Path temporary;

    private static Trial trial(String name) {
        return new Trial("root", name, "", Trial.FRESH, name, 0, 0, "cpu");
    }

    private static Outcome done(Trial trial) {
        return new Outcome(trial.name(), End.STOPPED, "");
    }

    /** So many trials at once, each begun while the ones before it run: what they are given, in the order in which they begin. */
    private static List<String> given(DeviceDeal deal, int atOnce) {
        List<String> devices = new ArrayList<>();
        begin(deal, atOnce, devices);
        return devices;
    }

    private static void begin(DeviceDeal deal, int atOnce, List<String> devices) {
        if (atOnce > 0) {
            deal.carryOut(trial("t" + atOnce), placed -> {
                devices.add(placed.device());
                begin(deal, atOnce - 1, devices);
                return done(placed);
            });
        }
    }

    @Test
    void thoseThatRunAtOnceAreDealtOutInTurn() {
        DeviceDeal deal = new DeviceDeal(List.of(Device.gpu(0), Device.gpu(1), Device.gpu(2)));
        for (int time = 0; time < 2; time++) {
            assertEquals(List.of("gpu", "gpu:1", "gpu:2", "gpu", "gpu:1", "gpu:2", "gpu"), given(deal, 7));
        }
    }

    @Test
    void theLeastBusyIsTakenAndGivenBackWhateverHappens() {
        DeviceDeal deal = new DeviceDeal(TWO);
        List<String> devices = new ArrayList<>();
        deal.carryOut(trial("long"), first -> {
            devices.add(first.device());
            for (int i = 0; i < 3; i++) {
                assertThrows(
                        IllegalStateException.class,
                        () -> deal.carryOut(trial("short"), second -> {
                            devices.add(second.device());
                            throw new IllegalStateException("lost");
                        }));
            }
            return done(first);
        });
        assertEquals(List.of("gpu", "gpu:1", "gpu:1", "gpu:1"), devices);
        assertEquals(List.of("gpu"), given(deal, 1));
    }

    @Test
    void oneDeviceIsForAllAndNoneLeavesTrialsWhereTheyAre() {
        assertEquals(List.of("gpu:3", "gpu:3"), given(new DeviceDeal(List.of(Device.gpu(3))), 2));
        assertEquals(List.of("cpu", "cpu"), given(new DeviceDeal(List.of()), 2));
    }

    /** A process that says which device it was given, waits for nothing and ends as a training does that was stopped. */
    private static final String ANSWER = """
            read -r trial
            name=$(printf '%s' "$trial" | sed 's/.*"name":"\\([^"]*\\)".*/\\1/')
            printf '%s' "$trial" | sed 's/.*"device":"\\([^"]*\\)".*/\\1/' >&2
            printf '{"trial":"%s","end":"GIVEN_UP","text":"none"}\\n' "$name"
            """;

    private Map<String, String> study(int jobs, List<Device> devices, List<StudyResult> results) throws IOException {
        Plan plan = Study.parse(
                        "study.recipe = \"digits.toml\"\n[axes]\npenalty.lambda = [1e-3, 5e-3, 1e-2, 5e-2]\n", """
                data = { kind = "digits" }
                model = { kind = "mlp", hidden = [4] }
                penalty = { kind = "group-mcp", lambda = 1e-2, beta = 10 }
                optimizer.rate = 1e-2
                training = { epochs = 1, batch_size = 50 }
                """)
                .plan(temporary.toString());
        Map<String, String> given = new ConcurrentHashMap<>();
        try (Launcher launcher = new ProcessLauncher(
                jobs,
                List.of("sh", "-c", ANSWER),
                new DeviceDeal(devices),
                (trial, line) -> given.put(trial.name(), line))) {
            results.add(new StudyRun(plan, launcher, StudyListener.NOBODY, () -> false).run());
        }
        return given;
    }

    @Test
    void whatComesOutDoesNotTellWhichDeviceATrialWasDealt() throws IOException {
        List<StudyResult> results = Collections.synchronizedList(new ArrayList<>());
        assertEquals(
                4,
                study(1, List.of(Device.gpu(1)), results).values().stream()
                        .filter("gpu:1"::equals)
                        .count());
        assertEquals(
                4,
                study(4, TWO, results).values().stream()
                        .filter(device -> Stream.of("gpu", "gpu:1").anyMatch(device::equals))
                        .count());
        assertEquals(
                4,
                study(1, List.of(), results).values().stream()
                        .filter("cpu"::equals)
                        .count());
        assertEquals(4, results.getFirst().ended(End.GIVEN_UP).size());
        for (StudyResult result : results) {
            assertEquals(results.getFirst().toJson(), result.toJson());
        }
    }
}
