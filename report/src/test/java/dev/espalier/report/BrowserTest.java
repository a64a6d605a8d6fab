package dev.espalier.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.espalier.browser.Browser;
import dev.espalier.train.journal.RunFolder;
import dev.espalier.train.journal.Spread;
import dev.espalier.train.study.Plan;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The pages in a real browser: they draw what they should, complain of nothing and ask nobody for anything. Screenshots of them are in
 * {@code report/target/screenshots}.
 */
final class BrowserTest {
    /** For every figure: its name, its number of series without data, its number of shapes, its size. */
    private static final String FIGURES = """
            [...document.querySelectorAll('figure')].map(figure => {
              const image = figure.querySelector('img');
              if (image) return {name: image.alt, isChart: false, empty: 0, shapes: image.naturalWidth * image.naturalHeight,
                  width: image.clientWidth, height: image.clientHeight};
              const plot = figure.querySelector('.plot');
              const svg = plot.querySelector('svg');
              const series = echarts.getInstanceByDom(plot).getModel().getSeries();
              return {name: figure.dataset.chart, isChart: true,
                  empty: series.length === 0 ? 1 : series.filter(one => one.getData().count() === 0).length,
                  shapes: [...svg.querySelectorAll('path')].filter(path => path.getAttribute('d')).length,
                  width: echarts.getInstanceByDom(plot).getModel().getComponent('grid').coordinateSystem.getRect().width,
                  height: svg.clientHeight};
            })
            """;

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private static Path folder;

    private static Optional<Browser> browser = Optional.empty();

    @BeforeAll
    static void start() throws IOException {
        Optional<Path> executable = Browser.find();
        if (executable.isPresent()) {
            browser = Optional.of(Browser.start(executable.get()));
        }
    }

    @AfterAll
    static void stop() throws IOException {
        if (browser.isPresent()) {
            browser.get().close();
        }
    }

    private static Browser browser() {
        assumeTrue(
                browser.isPresent(),
                () -> "no browser: install chromium, or set " + Browser.VARIABLE + " to the path of one");
        Browser present = browser.orElseThrow();
        present.resize(1200, 900, false);
        present.prefer("light");
        return present;
    }

    private static void assertShows(Path page, int figures) throws IOException, InterruptedException {
        Browser.Visit visit = browser().visit(page);
        assertEquals(List.of(), visit.errors());
        assertEquals(List.of(page.toUri().toString()), visit.requests());
        String name = folder.relativize(page).toString().replaceAll("\\W+", "-");
        browser().screenshot(Path.of("target", "screenshots", name + ".png"));
        JsonNode found = browser().evaluate(FIGURES);
        assertEquals(figures, found.size(), found::toPrettyString);
        for (JsonNode figure : found) {
            assertEquals(0, figure.get("empty").asInt(), figure::toPrettyString);
            assertTrue(figure.get("shapes").asInt() > 3, figure::toPrettyString);
            boolean isChart = figure.get("isChart").asBoolean();
            assertTrue(figure.get("width").asInt() >= (isChart ? 300 : 20), figure::toPrettyString);
            assertTrue(figure.get("height").asInt() >= (isChart ? 120 : 20), figure::toPrettyString);
        }
    }

    @Test
    void aFinishedRunIsDrawn() throws IOException, InterruptedException {
        browser();
        RunFolder run = SampleRuns.finished(folder.resolve("finished"), 1, 1e-3);
        SampleRuns.finished(folder.resolve("finished/baseline"), 1, 0);
        Report.of(run).write(run.report());
        // Eight curves, the history of layers, the layers, and five weights.
        assertShows(run.report(), 15);
        assertEquals(
                SampleRuns.RECIPE.formatted(1e-3),
                browser()
                        .evaluate("document.querySelector('.recipe').textContent")
                        .asText());
        assertEquals(
                3,
                browser()
                        .evaluate("echarts.getInstanceByDom(document.querySelector('[data-chart=loss] .plot'))"
                                + ".getModel().getComponent('series', 0).get('markArea').data.length")
                        .asInt());
    }

    @Test
    void mistakesAreShown() throws IOException, InterruptedException {
        Browser phone = browser();
        RunFolder pictures = SampleRuns.finished(folder.resolve("pictures"), 1, 1e-3);
        pictures.write(SampleRuns.classes(32, true));
        Report.of(pictures).write(pictures.report());
        // Two dozen pictures beside the figures of any run.
        assertShows(pictures.report(), 15 + 24);
        assertTrue(phone.evaluate("""
                        (() => {
                          const colour = name => getComputedStyle(document.querySelector('.matrix td.' + name)).backgroundColor;
                          return new Set([colour('hit'), colour('miss'), colour('none')]).size === 3;
                        })()
                        """).asBoolean());
        phone.resize(360, 740, true);
        phone.visit(pictures.report());
        assertEquals(360, phone.evaluate("document.documentElement.scrollWidth").asInt());
        phone.resize(1200, 900, false);
        RunFolder estimates = SampleRuns.finished(folder.resolve("estimates"), 1, 1e-3);
        estimates.write(SampleRuns.quantities());
        Report.of(estimates).write(estimates.report());
        assertShows(estimates.report(), 15 + 2);
        assertEquals(
                "0",
                browser()
                        .evaluate(
                                "echarts.getInstanceByDom(document.querySelector('[data-chart=quantity-0-errors] .plot'))"
                                        + ".getModel().getComponent('xAxis').get('data')[20]")
                        .asText());
    }

    @Test
    void fidelityIsDrawn() throws IOException, InterruptedException {
        Browser phone = browser();
        Path page = folder.resolve("fidelity.html");
        Report.of(SampleRuns.comparison(true)).write(page);
        // The cosines of two outputs, and ten pictures.
        assertShows(page, 2 + 10);
        assertEquals(
                "0.9994",
                browser()
                        .evaluate("echarts.getInstanceByDom(document.querySelector('[data-chart=cosines-0] .plot'))"
                                + ".getModel().getComponent('xAxis').get('data')[40]")
                        .asText());
        phone.resize(360, 740, true);
        phone.visit(page);
        assertEquals(360, phone.evaluate("document.documentElement.scrollWidth").asInt());
        phone.resize(1200, 900, false);
    }

    @Test
    void anArticleIsDrawn() throws IOException, InterruptedException {
        browser();
        List<Figure.Point> points =
                List.of(new Figure.Point(1, 4), new Figure.Point(10, 0.4), new Figure.Point(100, 0.05));
        Figure.Axis steps = Figure.Axis.logarithmic("T");
        Figure.Axis share = Figure.Axis.share("accuracy");
        Path page = folder.resolve("article.html");
        new Article(
                        "Figure 1",
                        "What <is> drawn",
                        List.of("A paragraph."),
                        List.of(new Article.Grid("Table", "A note.", List.of("row", "x"), List.of(List.of("a", "1")))),
                        List.of(
                                new Figure.Plot(
                                        "Plot",
                                        "",
                                        steps,
                                        Figure.Axis.logarithmic("y"),
                                        List.of(
                                                new Figure.Curve("measured", points),
                                                new Figure.Curve("bound", Figure.Stroke.DASHED, points)),
                                        true),
                                new Figure.Plot(
                                        "Shares",
                                        "",
                                        Figure.Axis.linear("x"),
                                        share,
                                        List.of(new Figure.Curve(
                                                "share", List.of(new Figure.Point(0, 0.1), new Figure.Point(1, 0.9))))),
                                new Figure.Sizes(
                                        "Sizes",
                                        "",
                                        List.of("a", "b", "c"),
                                        List.of(100L, 10L, 8L),
                                        List.of(50L, 1L, 8L))),
                        Map.of("Command", "espalier"))
                .write(page);
        assertShows(page, 3);
    }

    @Test
    void hoveringShowsTheValue() throws IOException, InterruptedException {
        browser();
        RunFolder run = SampleRuns.finished(folder.resolve("hovered"), 1, 1e-3);
        Report.of(run).write(run.report());
        browser().visit(run.report());
        String tip = browser().evaluate("""
                        new Promise(done => {
                          const plot = document.querySelector('[data-chart=groups] .plot');
                          echarts.getInstanceByDom(plot).dispatchAction({type: 'showTip', seriesIndex: 0, dataIndex: 4});
                          setTimeout(() => done(plot.querySelector('.tooltip').textContent), 100);
                        })
                        """).asText();
        assertTrue(tip.contains("epoch 5 · warm-up"), tip);
        assertTrue(tip.contains("100.0 %"), tip);
    }

    @Test
    void aRunThatIsNotFinishedIsDrawnAsFarAsItCame() throws IOException, InterruptedException {
        browser();
        RunFolder run = SampleRuns.underWay(folder.resolve("under way"), 1, 1e-3, 7);
        Report.of(run).write(run.report());
        assertShows(run.report(), 9);
        RunFolder started = SampleRuns.underWay(folder.resolve("started"), 1, 1e-3, 0);
        Report.of(started).write(started.report());
        assertShows(started.report(), 0);
        RunFolder one = SampleRuns.underWay(folder.resolve("one"), 1, 1e-3, 1);
        Report.of(one).write(one.report());
        assertShows(one.report(), 6);
    }

    @Test
    void seedsComparisonsAndSweepsAreDrawn() throws IOException, InterruptedException {
        browser();
        RunFolder seeds = new RunFolder(folder.resolve("seeds"));
        for (long seed = 1; seed <= 3; seed++) {
            SampleRuns.finished(seeds.seed(seed).path(), seed, 2e-3);
        }
        Report.of(seeds).write(seeds.report());
        assertShows(seeds.report(), 15);
        RunFolder other = SampleRuns.finished(folder.resolve("other <b>"), 4, 1e-4);
        Path comparison = folder.resolve("comparison.html");
        Report.of(List.of(seeds, other)).write(comparison);
        assertShows(comparison, 9);
        Path sweep = folder.resolve("sweep.html");
        List<SweepPage.Point> points = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            points.add(new SweepPage.Point(
                    Math.pow(10, i - 6), new Spread(0.9 - 0.01 * i, 0.01, 3), 0.5, Math.pow(0.5, i), "run-" + i));
        }
        new SweepPage("sweep", SampleRuns.ACCURACY, points, OptionalDouble.of(0.91)).write(sweep);
        assertShows(sweep, 1);
    }

    @Test
    void aStudyIsDrawnSortedAndNarrowedDown() throws IOException, InterruptedException {
        Browser desk = browser();
        Path study = Files.createDirectories(folder.resolve("study <b>"));
        Path page = study.resolve(StudyPage.FILE);
        StudyPage.of("a study", SampleStudies.underWay(study, 4, 3, List.of(1L, 2L)))
                .write(page);
        Browser.Visit visit = desk.visit(page);
        assertEquals(List.of(), visit.errors());
        assertEquals(List.of(page.toUri().toString()), visit.requests());
        desk.screenshot(Path.of("target", "screenshots", "study.png"));
        assertEquals(
                2,
                desk.evaluate("document.querySelectorAll('.plot svg').length").asInt());
        String rows = "[...document.querySelectorAll('#points tbody tr:not([hidden])')]";
        assertEquals(24, desk.evaluate(rows + ".length").asInt());
        // The best score is first, then last, then the order is that of the study.
        String sort =
                "[...document.querySelectorAll('#points thead button')].find(one => one.textContent === 'Accuracy').click(), "
                        + rows
                        + ".filter(row => row.cells[5].dataset.value).map(row => Number(row.cells[5].dataset.value))";
        JsonNode falling = desk.evaluate(sort);
        JsonNode rising = desk.evaluate(sort);
        for (int i = 1; i < falling.size(); i++) {
            assertTrue(falling.get(i - 1).asDouble() >= falling.get(i).asDouble(), falling::toString);
            assertTrue(rising.get(i - 1).asDouble() <= rising.get(i).asDouble(), rising::toString);
        }
        desk.evaluate(sort);
        assertEquals("1", desk.evaluate(rows + "[0].dataset.row").asText());
        // Another cost has another front, in the chart and in the table.
        for (String cost : List.of("latency", "flops", "parameters")) {
            JsonNode fronts = desk.evaluate("""
                    (() => {
                      const figure = document.querySelector('[data-chart=tradeoff]');
                      const select = figure.querySelector('select');
                      select.selectedIndex = ['parameters', 'flops', 'latency'].indexOf('%s');
                      select.dispatchEvent(new Event('change'));
                      const drawn = echarts.getInstanceByDom(figure.querySelector('.plot')).getOption().series[2].data.map(one => one.point.row);
                      const rows = [...document.querySelectorAll('#points tr[data-row]')];
                      const numbers = some => some.map(row => Number(row.dataset.row)).sort((a, b) => a - b).join();
                      return [drawn.sort((a, b) => a - b).join(), numbers(rows.filter(row => row.classList.contains('front'))),
                          numbers(rows.filter(row => row.dataset.front.split(' ').includes('%s')))];
                    })()
                    """.formatted(cost, cost));
            assertFalse(fronts.get(0).asText().isEmpty());
            assertEquals(fronts.get(0), fronts.get(1));
            assertEquals(fronts.get(0), fronts.get(2));
        }
        // Half of an axis leaves the points that pass through it.
        JsonNode narrowed = desk.evaluate("""
                new Promise(done => {
                  const chart = echarts.getInstanceByDom(document.querySelector('[data-chart=parallel] .plot'));
                  const side = chart.getModel().getComponent('parallelAxis', 2);
                  chart.dispatchAction({type: 'axisAreaSelect', parallelAxisId: side.id, intervals: [[-0.5, 0.4]]});
                  setTimeout(() => done([...new Set(%s.map(row => row.cells[4].textContent))].concat(document.getElementById('shown').textContent)), 200);
                })
                """.formatted(rows));
        assertEquals("adam", narrowed.get(0).asText(), narrowed::toString);
        assertTrue(narrowed.get(1).asText().endsWith("of 24 points were chosen above. "), narrowed::toString);
        assertEquals(List.of(), desk.errors());
        desk.resize(360, 740, true);
        desk.visit(page);
        assertEquals(360, desk.evaluate("document.documentElement.scrollWidth").asInt());
    }

    @Test
    void aStudyOfOneTrialAndOneOfAThousandAreDrawn() throws IOException, InterruptedException {
        Browser desk = browser();
        for (int lambdas : List.of(1, 25)) {
            Plan plan = SampleStudies.plan(folder.resolve("large"), lambdas, lambdas == 1 ? 1 : 20, List.of(1L));
            Path page = folder.resolve("study-%d.html".formatted(lambdas));
            int trials = lambdas == 1 ? 1 : 1000;
            StudyPage.of("a study", SampleStudies.of(plan, SampleStudies.finished(plan, SampleStudies.ERROR, trials)))
                    .write(page);
            Browser.Visit visit = desk.visit(page);
            assertEquals(List.of(), visit.errors());
            assertEquals(
                    trials,
                    desk.evaluate(
                                    "echarts.getInstanceByDom(document.querySelector('[data-chart=tradeoff] .plot'))"
                                            + ".getModel().getSeries().slice(1).reduce((sum, one) => sum + one.getData().count(), 0)")
                            .asInt());
        }
    }

    @Test
    void aPhoneScrollsDownOnly() throws IOException, InterruptedException {
        Browser phone = browser();
        RunFolder run = SampleRuns.finished(folder.resolve("on a phone"), 1, 1e-3);
        Report.of(run).write(run.report());
        phone.resize(360, 740, true);
        phone.visit(run.report());
        assertEquals(360, phone.evaluate("document.documentElement.scrollWidth").asInt());
        assertEquals(
                10,
                phone.evaluate("[...document.querySelectorAll('.plot svg')]"
                                + ".filter(svg => svg.clientWidth > 250 && svg.clientWidth < 360).length")
                        .asInt());
    }

    @Test
    void darkIsDark() throws IOException, InterruptedException {
        Browser dark = browser();
        RunFolder run = SampleRuns.finished(folder.resolve("dark"), 1, 1e-3);
        Report.of(run).write(run.report());
        String background = "getComputedStyle(document.body).backgroundColor";
        dark.visit(run.report());
        String light = dark.evaluate(background).asText();
        dark.prefer("dark");
        assertFalse(dark.evaluate(background).asText().equals(light), light);
    }

    /** The tests above can fail: a page that throws, complains and asks is found out. */
    @Test
    void errorsAndRequestsAreSeen() throws IOException, InterruptedException {
        browser();
        Path page = folder.resolve("broken.html");
        Files.writeString(page, """
                <!doctype html><img src="missing.png"><script>console.error('complaint');</script>
                <script>throw new Error('thrown');</script>
                """);
        Browser.Visit visit = browser().visit(page);
        assertTrue(visit.errors().stream().anyMatch(error -> error.contains("thrown")), visit::toString);
        assertTrue(visit.errors().stream().anyMatch(error -> error.contains("complaint")), visit::toString);
        assertTrue(visit.requests().stream().anyMatch(url -> url.endsWith("missing.png")), visit::toString);
    }

    /** Should text ever get into a page as markup, it could still do nothing. */
    @Test
    void scriptsThatAreNotOursDoNotRun() throws IOException, InterruptedException {
        browser();
        Page smuggled = new Page("smuggled", Html.of("<script>window.ran = true;</script>"), List.of());
        Path page = folder.resolve("smuggled.html");
        Files.writeString(page, smuggled.toHtml().markup());
        Browser.Visit visit = browser().visit(page);
        assertTrue(browser().evaluate("window.ran === undefined").asBoolean());
        assertEquals(1, visit.errors().size(), visit::toString);
    }
}
