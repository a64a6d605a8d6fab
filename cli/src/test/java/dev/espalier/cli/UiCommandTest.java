package dev.espalier.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.espalier.browser.Browser;
import dev.espalier.train.journal.RunFolder;
import dev.espalier.train.run.Standing;
import dev.espalier.ui.Ui;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code espalier ui} with real trainings: in a real browser, and ended by Ctrl-C. */
@Timeout(value = 180, threadMode = Timeout.ThreadMode.SEPARATE_THREAD) // pipes and browsers do not heed interrupts
@Tag("processes")
final class UiCommandTest {
    private static final long PATIENCE_SECONDS = 60;

    /** Longer than any test waits. */
    private static final String RECIPE = """
            [data]
            kind = "digits"
            train_limit = 300
            [model]
            kind = "mlp"
            hidden = [24]
            [penalty]
            kind = "group-mcp"
            lambda = 1e-3
            beta = 10
            [optimizer]
            rate = 1e-2
            [training]
            prune_for = "size"
            epochs = 200000
            batch_size = 50
            [evaluation]
            every = 25
            """;

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path folder;

    @BeforeEach
    void writeRecipe() throws IOException {
        Files.writeString(folder.resolve("long.toml"), RECIPE);
    }

    /** The run that was started from the page. */
    private Optional<RunFolder> run() throws IOException {
        Path runs = folder.resolve("runs");
        if (!Files.isDirectory(runs)) {
            return Optional.empty();
        }
        try (Stream<Path> entries = Files.list(runs)) {
            return entries.filter(Files::isDirectory).map(RunFolder::new).findFirst();
        }
    }

    @Test
    void aRecipeIsStartedWatchedStoppedAndGoesOnInABrowser() throws Exception {
        Optional<Path> executable = Browser.find();
        assumeTrue(
                executable.isPresent(),
                () -> "no browser: install chromium, or set " + Browser.VARIABLE + " to the path of one");
        try (Ui ui = Ui.start(folder, 0, UiCommand.train());
                Browser browser = Browser.start(executable.orElseThrow())) {
            try {
                browser.resize(1200, 900, false);
                assertEquals(List.of(), browser.visit(ui.address()).errors());
                until(browser, "document.querySelector('#runs .empty') !== null");
                click(browser, ".masthead .button");
                until(browser, "document.getElementById('text')?.value.includes('epochs = 200000')");
                browser.evaluate("document.getElementById('overrides').value = 'training.epochs=100000'");
                click(browser, "#form button");

                String points =
                        "(globalThis.echarts?.getInstanceByDom(document.querySelector('[data-chart=loss] .plot') ??"
                                + " document.body)?.getOption().series[0].data.length ?? 0)";
                until(browser, points + " >= 2");
                int before = browser.evaluate(points).asInt();
                browser.evaluate("globalThis.chart = document.querySelector('[data-chart=loss]')");
                // It grows by itself, and stays the same chart: nobody has loaded the page again.
                until(
                        browser,
                        points + " > " + before
                                + " && document.querySelector('[data-chart=loss]') === globalThis.chart");
                assertEquals(
                        "training",
                        browser.evaluate("document.querySelector('h1 .status').textContent")
                                .asText());
                assertEquals(List.of(), browser.errors());

                click(browser, "#doing button");
                until(browser, "document.querySelector('h1 .status').textContent === 'stopped'");
                RunFolder run = run().orElseThrow();
                assertEquals(Standing.STOPPED, Standing.of(run));
                assertTrue(Files.readString(run.recipe()).contains("epochs = 100000"));

                int stopped = run.metrics().size();
                until(browser, "document.querySelector('#doing button')?.textContent === 'Resume'");
                click(browser, "#doing button");
                until(browser, "document.querySelector('h1 .status').textContent === 'training'");
                until(browser, points + " > " + stopped);
                browser.evaluate("location.href = '/'");
                until(browser, "document.querySelector('#runs .status.training') !== null");
                click(browser, "#runs button");
                until(browser, "document.querySelector('#runs .status.stopped') !== null");
                assertEquals(List.of(), browser.errors());
                until(
                        browser,
                        "document.querySelector('#list table').scrollWidth <= document.querySelector('#list .scroll').clientWidth");
                browser.resize(360, 740, true);
                until(browser, "innerWidth === 360 && document.documentElement.scrollWidth === 360");
                assertTrue(browser.requests().stream().allMatch(url -> url.startsWith("http://127.0.0.1:")));
            } finally {
                endTraining();
            }
        }
    }

    private void endTraining() throws Exception {
        Optional<RunFolder> run = run();
        if (run.isPresent()) {
            Optional<ProcessHandle> trainer = run.get().trainer();
            if (trainer.isPresent()) {
                trainer.get().destroy();
                trainer.get().onExit().get(60, TimeUnit.SECONDS);
            }
        }
    }

    private static void click(Browser browser, String selector) {
        until(
                browser,
                "document.querySelector('%s')?.disabled !== true && document.querySelector('%1$s') !== null"
                        .formatted(selector));
        // Later, because it may lead to another page, and then nothing would answer.
        browser.evaluate("void setTimeout(() => document.querySelector('%s').click())".formatted(selector));
    }

    /** Looks until it is so, and tells what there is instead if that takes too long. */
    private static void until(Browser browser, String condition) {
        long start = System.nanoTime();
        while (!isSo(browser, condition)) {
            if (System.nanoTime() - start > TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS)) {
                throw new AssertionError("not so within %d s: %s; the page says: %s"
                        .formatted(
                                PATIENCE_SECONDS,
                                condition,
                                browser.evaluate("document.body.innerText").asText()));
            }
        }
    }

    private static boolean isSo(Browser browser, String condition) {
        try {
            // Within the page, so that nobody is asked all the time.
            return browser.evaluate("""
                            new Promise(done => {
                              const look = left => (%s) || left === 0 ? done(Boolean(%1$s)) : setTimeout(() => look(left - 1), 50);
                              look(20);
                            })
                            """.formatted(condition)).asBoolean();
        } catch (RuntimeException _) {
            return false; // on the way from one page to another
        }
    }

    /** Ctrl-C ends the page, and not what was started from it; the next page finds that again, and stops it. */
    @Test
    void aTrainingOutlivesThePage() throws Exception {
        Process page = new ProcessBuilder(ThisProgram.command(List.of(), List.of("ui", folder.toString())))
                .redirectError(folder.resolve("said.txt").toFile())
                .start();
        URI address = URI.create(page.inputReader().readLine());
        assertEquals(200, post(address, "start", """
                {"recipe": "long.toml", "name": "", "text": "", "overrides": "", "keep": "", "baseline": false}"""));
        while (run().isEmpty() || run().get().metrics().isEmpty()) {
            assertTrue(page.isAlive());
            Thread.sleep(20);
        }
        RunFolder run = run().orElseThrow();
        ProcessHandle trainer = run.trainer().orElseThrow();
        for (long pid : List.of(trainer.pid(), page.pid())) {
            assertEquals(
                    0,
                    new ProcessBuilder("kill", "-INT", Long.toString(pid))
                            .start()
                            .waitFor());
        }
        assertTrue(page.waitFor(60, TimeUnit.SECONDS));
        assertEquals(ExitStatus.INTERRUPTED, page.exitValue());
        String said = Files.readString(folder.resolve("said.txt"));
        assertTrue(said.contains("goes on as process " + trainer.pid() + ": stop it with kill " + trainer.pid()), said);
        assertTrue(trainer.isAlive());
        Answer second = Answer.to("train", folder.resolve("long.toml"), "--run-dir", run.path(), "--resume");
        assertEquals(2, second.exitStatus());
        assertTrue(second.err().contains("process " + trainer.pid() + " trains in " + run.path()), second.err());

        try (Ui next = Ui.start(folder, 0, UiCommand.train())) {
            assertEquals(
                    200,
                    post(
                            next.address(),
                            "stop",
                            "{\"run\": \"runs/%s\"}".formatted(run.path().getFileName())));
        }
        trainer.onExit().get(60, TimeUnit.SECONDS);
        assertEquals(Standing.STOPPED, Standing.of(run));
        assertEquals(Optional.empty(), run.trainer());
    }

    private static int post(URI address, String path, String message) throws IOException, InterruptedException {
        try (HttpClient http = HttpClient.newHttpClient()) {
            String cookie = http.send(HttpRequest.newBuilder(address).build(), HttpResponse.BodyHandlers.discarding())
                    .headers()
                    .firstValue("Set-Cookie")
                    .orElseThrow()
                    .split(";", 2)[0];
            String origin = "http://" + address.getAuthority();
            return http.send(
                            HttpRequest.newBuilder(URI.create(origin + "/" + path))
                                    .header("Cookie", cookie)
                                    .header("Origin", origin)
                                    .POST(HttpRequest.BodyPublishers.ofString(message))
                                    .build(),
                            HttpResponse.BodyHandlers.discarding())
                    .statusCode();
        }
    }

    @Test
    void whatCannotBeServedIsRefused() {
        Answer missing = Answer.to("ui", folder.resolve("nowhere"));
        assertEquals(2, missing.exitStatus());
        assertTrue(missing.err().contains("is no folder that exists: give one"), missing.err());
        assertEquals(2, Answer.to("ui", folder, "--port", "70000").exitStatus());
    }
}
