package dev.espalier.ui;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.espalier.browser.Browser;
import dev.espalier.train.journal.JsonFile;
import dev.espalier.train.journal.RunFolder;
import dev.espalier.train.journal.RunResult;
import dev.espalier.train.recipe.Recipe;
import dev.espalier.train.study.Outcome;
import dev.espalier.train.study.Outcome.End;
import dev.espalier.train.study.Plan;
import dev.espalier.train.study.Plan.Branch;
import dev.espalier.train.study.StudyResult;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Every page in a real browser: the header can be read. Screenshots of all pages are in {@code ui/target/screenshots}. */
@Timeout(value = 180, threadMode = Timeout.ThreadMode.SEPARATE_THREAD) // a browser does not heed interrupts
final class PagesTest {
    private static final Path SCREENSHOTS = Path.of("target", "screenshots");

    /** A rule of one class alone, at the start of a line. */
    private static final Pattern CLASS_RULE = Pattern.compile("^(\\.[\\w-]+) \\{", Pattern.MULTILINE);

    /** The colour behind the header, and each text in it with whether it lies within the header's box. */
    private static final String HEADER = """
            (() => {
              const header = document.body.firstElementChild;
              const outer = header.getBoundingClientRect();
              const texts = [...header.children].filter(one => one.textContent.trim()).map(one => {
                const box = one.getBoundingClientRect();
                const isWithin = box.height > 0 && box.top >= outer.top && box.bottom <= outer.bottom
                    && box.left >= outer.left && box.right <= outer.right;
                return {text: one.textContent, isWithin};
              });
              return {colour: getComputedStyle(header).backgroundColor, texts};
            })()
            """;

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path folder;

    private Optional<Browser> started = Optional.empty();

    @BeforeEach
    void start() throws IOException {
        Optional<Path> executable = Browser.find();
        if (executable.isPresent()) {
            started = Optional.of(Browser.start(executable.get()));
        }
    }

    @AfterEach
    void stop() throws IOException {
        if (started.isPresent()) {
            started.get().close();
        }
    }

    private Browser browser() {
        assumeTrue(
                started.isPresent(),
                () -> "no browser: install chromium, or set " + Browser.VARIABLE + " to the path of one");
        return started.orElseThrow();
    }

    /** Opens a page on a desk and on a telephone, looks at its header, and takes a picture. */
    private void assertHeader(URI page, String ready, String name) throws IOException, InterruptedException {
        Browser browser = browser();
        for (boolean isPhone : List.of(false, true)) {
            browser.resize(isPhone ? 360 : 1200, isPhone ? 740 : 900, isPhone);
            assertEquals(List.of(), browser.visit(page).errors());
            assertTrue(browser.evaluate("""
                            new Promise(done => {
                              const look = left => (%s) || left === 0 ? done(Boolean(%1$s)) : setTimeout(() => look(left - 1), 50);
                              look(400);
                            })
                            """.formatted(ready)).asBoolean(), () -> "not so: " + ready);
            browser.screenshot(SCREENSHOTS.resolve(name + (isPhone ? "-phone" : "") + ".png"));
            JsonNode header = browser.evaluate(HEADER);
            assertEquals("rgba(0, 0, 0, 0)", header.get("colour").asText(), header::toPrettyString);
            assertTrue(header.get("texts").size() > 0, header::toPrettyString);
            for (JsonNode text : header.get("texts")) {
                assertTrue(text.get("isWithin").asBoolean(), header::toPrettyString);
            }
        }
    }

    @Test
    void theHeaderOfEveryPageOfRunsCanBeRead() throws IOException, InterruptedException {
        browser();
        try (Ui empty = Ui.start(folder, 0, List.of("false"))) {
            assertHeader(empty.address(), "document.querySelector('#runs .empty') !== null", "no-runs");
        }
        UiTest.finish(UiTest.run(folder, "runs/done", 8));
        UiTest.run(folder, "runs/halted", 2);
        UiTest.run(folder, "runs/hopeless", 3).giveUp("the loss is NaN");
        RunFolder training = UiTest.run(folder, "runs/in-training", 4);
        training.enter();
        try (Ui ui = Ui.start(folder, 0, List.of("false"))) {
            assertHeader(ui.address(), "document.querySelectorAll('#runs .status').length === 4", "runs");
            assertHeader(
                    ui.address().resolve("/?start"), "document.getElementById('recipe').options.length > 0", "start");
            String drawn = "document.querySelector('[data-chart=loss] svg') !== null";
            assertHeader(ui.address().resolve("/?run=runs/done"), drawn, "run");
            assertHeader(ui.address().resolve("/?run=runs/in-training"), drawn, "run-in-training");
            assertHeader(ui.address().resolve("/?run=runs/done&run=runs/halted"), drawn, "comparison");
        } finally {
            training.leave();
        }
    }

    @Test
    void theHeaderOfTheStudyCanBeRead() throws IOException, InterruptedException {
        browser();
        Recipe recipe = Recipe.parse("sample", UiTest.RECIPE, List.of());
        List<Branch> branches = Stream.of("1e-3", "1e-2", "1e-1")
                .map(lambda -> Branch.of(
                        folder.toString(),
                        "lambda-" + lambda,
                        recipe,
                        new LinkedHashMap<>(Map.of("penalty.lambda", lambda)),
                        false))
                .toList();
        SequencedMap<String, Outcome> outcomes = new LinkedHashMap<>();
        for (int i = 0; i < 2; i++) {
            RunResult result = new RunResult(
                    1,
                    8,
                    1,
                    1e-2,
                    0.1,
                    UiTest.scores(0.9 - 0.1 * i),
                    UiTest.scores(0.9 - 0.1 * i),
                    0.5,
                    0.5,
                    100,
                    50 - 20L * i,
                    100,
                    50 - 20L * i,
                    0,
                    1,
                    0.5,
                    RunResult.Files.UNKNOWN);
            String trial = branches.get(i).name();
            outcomes.put(trial, new Outcome(trial, End.FINISHED, JsonFile.line(result)));
        }
        StudyResult result = new StudyResult(new Plan(folder.toString(), branches, Optional.empty()), outcomes);
        try (StudyServer server = StudyServer.start("a study", () -> result, 0)) {
            assertHeader(server.address(), "document.querySelector('[data-chart=tradeoff] svg') !== null", "study");
        }
    }

    /** Both are loaded into the same page. {@code .status} is meant to be changed. */
    @Test
    void noClassMeansSomethingElseInTheStyleSheetOfReports() throws IOException {
        Set<String> both = classes("/dev/espalier/ui/ui.css");
        both.retainAll(classes("/dev/espalier/report/report.css"));
        assertEquals(Set.of(".status"), both);
    }

    private static Set<String> classes(String resource) throws IOException {
        try (InputStream in = Objects.requireNonNull(PagesTest.class.getResourceAsStream(resource), resource)) {
            return CLASS_RULE
                    .matcher(new String(in.readAllBytes(), StandardCharsets.UTF_8))
                    .results()
                    .map((MatchResult rule) -> rule.group(1))
                    .collect(Collectors.toCollection(TreeSet::new));
        }
    }
}
