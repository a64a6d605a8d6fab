package dev.espalier.reproduce;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.espalier.report.Figure;
import dev.espalier.report.Unit;
import dev.espalier.reproduce.Comparison.Cell;
import dev.espalier.reproduce.Comparison.Column;
import dev.espalier.reproduce.Comparison.Row;
import dev.espalier.train.journal.Spread;
import dev.espalier.train.run.RunOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is written down of an item. */
final class ReproductionTest {
    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path folder;

    private static final Comparison TABLE = new Comparison(
            "A table",
            "",
            "method",
            List.of(new Column("accuracy", Unit.SHARE), new Column("steps", Unit.COUNT)),
            List.of(
                    Row.of(
                            "one",
                            new Cell(Quote.percent(89.55, 0.14, 3), Spread.of(List.of(0.5, 0.7))),
                            Cell.ours(12345)),
                    Row.of("two", Cell.EMPTY, Cell.ours(Spread.of(List.of(1.0))))));

    /** An item that needs data at full scale, and can be stopped. */
    private record Sample() implements Item {
        @Override
        public String name() {
            return "sample";
        }

        @Override
        public String title() {
            return "A <sample>";
        }

        @Override
        public String place() {
            return "Table 0";
        }

        @Override
        public boolean trains() {
            return false;
        }

        @Override
        public void require(Setting setting) {
            if (setting.scale() == Scale.FULL) {
                setting.requireCifar10();
            }
        }

        @Override
        public Optional<Findings> run(Setting setting) {
            return setting.run().stop().getAsBoolean()
                    ? Optional.empty()
                    : Optional.of(new Findings(
                            "nothing",
                            List.of(TABLE),
                            List.of(
                                    new Figure.Plot(
                                            "A plot",
                                            "",
                                            Figure.Axis.logarithmic("T"),
                                            Figure.Axis.logarithmic("y"),
                                            List.of(new Figure.Curve(
                                                    "curve",
                                                    List.of(
                                                            new Figure.Point(1, 2),
                                                            new Figure.Point(10, Double.NaN))))),
                                    new Figure.Sizes("Sizes", "", List.of("a"), List.of(10L), List.of(5L))),
                            List.of("A note.")));
        }
    }

    @Test
    void thePapersNumbersStandBesideOurs() {
        assertEquals(List.of("method", "accuracy, paper", "accuracy, ours", "steps"), TABLE.head());
        assertEquals(
                List.of(List.of("one", "89.55 ± 0.14 %", "60.00 ± 14.14 %", "12,345"), List.of("two", "–", "–", "1")),
                TABLE.body());
    }

    @Test
    void aRowHasACellForEveryColumn() {
        IllegalArgumentException problem = assertThrows(
                IllegalArgumentException.class,
                () -> new Comparison("", "", "", TABLE.columns(), List.of(Row.of("short", Cell.EMPTY))));
        assertEquals("row short has 1 cells, but there are 2 columns", problem.getMessage());
    }

    @Test
    void threeFilesKeepWhatCameOut() throws IOException {
        Path place = folder.resolve("new/place");
        Reproduction done = Reproduction.of(new Sample(), Small.setting(place), "espalier reproduce sample")
                .orElseThrow();
        JsonNode json = new ObjectMapper().readTree(done.json().toFile());
        assertEquals("sample", json.get("item").asText());
        assertEquals("small", json.get("scale").asText());
        assertEquals("espalier reproduce sample", json.get("command").asText());
        JsonNode cell = json.at("/tables/0/rows/0/cells/0");
        assertEquals(0.8955, cell.at("/paper/mean").asDouble());
        assertEquals(0.6, cell.at("/ours/mean").asDouble(), 1e-15);
        assertTrue(json.at("/tables/0/rows/1/cells/0/paper/mean").isNull());
        assertEquals("Plot", json.at("/figures/0/kind").asText());
        assertTrue(json.at("/figures/0/curves/0/points/1/y").isNull());
        String page = Files.readString(done.page());
        assertTrue(page.contains("A &lt;sample&gt;"));
        assertTrue(page.contains("89.55 ± 0.14 %"));
        JsonNode provenance = new ObjectMapper().readTree(Files.readString(place.resolve("sample.provenance.json")));
        assertEquals("nothing", provenance.get("kernel").asText());
        assertEquals("none", provenance.get("engine").asText());
    }

    @Test
    void missingDataIsSaidBeforeAnythingIsDone() {
        Path place = folder.resolve("untouched");
        Setting full = new Setting(Scale.FULL, Optional.empty(), 1, place, RunOptions.DEFAULT);
        IllegalArgumentException problem =
                assertThrows(IllegalArgumentException.class, () -> Reproduction.of(new Sample(), full, ""));
        assertTrue(String.valueOf(problem.getMessage()).contains("espalier data cifar10"), problem.getMessage());
        assertFalse(Files.exists(place));
    }

    @Test
    void whatIsStoppedWritesNothing() throws IOException {
        Setting stopped =
                new Setting(Scale.SMALL, Optional.empty(), 1, folder, RunOptions.DEFAULT.withStop(() -> true));
        assertTrue(Reproduction.of(new Sample(), stopped, "").isEmpty());
        assertFalse(Files.exists(folder.resolve("sample.json")));
    }

    @Test
    void everyItemHasANameOfItsOwn() {
        HashSet<String> names = new HashSet<>();
        for (Item item : Items.ALL) {
            assertTrue(item.name().matches("[a-z0-9-]+"), item.name());
            assertTrue(names.add(item.name()), item.name());
            assertEquals(item, Items.of(item.name()));
        }
        IllegalArgumentException problem = assertThrows(IllegalArgumentException.class, () -> Items.of("no-such"));
        names.forEach(name -> assertTrue(String.valueOf(problem.getMessage()).contains(name), name));
    }
}
