package dev.espalier.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.espalier.train.journal.Findings;
import dev.espalier.train.journal.Metric;
import dev.espalier.train.journal.Metrics;
import dev.espalier.train.journal.RunFolder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the pages say. */
final class ReportTest {
    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path folder;

    private static JsonNode charts(String page) throws IOException {
        Matcher script = Pattern.compile("<script type=\"application/json\" id=\"charts\">(.*?)</script>")
                .matcher(page);
        assertTrue(script.find());
        return new ObjectMapper().readTree(script.group(1));
    }

    private static JsonNode chart(String page, String id) throws IOException {
        return StreamSupport.stream(charts(page).spliterator(), false)
                .filter(chart -> chart.get("id").asText().equals(id))
                .findFirst()
                .orElseThrow();
    }

    private static List<String> rows(String page, String caption) {
        String table = page.substring(page.indexOf("<caption>" + caption + "</caption>"));
        return Pattern.compile("<tr.*?>(.*?)</tr>", Pattern.DOTALL)
                .matcher(table.substring(0, table.indexOf("</table>")))
                .results()
                .map(row -> row.group(1)
                        .replaceAll("<[^>]*>", "|")
                        .replaceAll("[|\\s]*[|\\n][|\\s]*", " | ")
                        .strip())
                .toList();
    }

    @Test
    void aFinishedRunHasItsFiguresTablesRecipeAndProvenance() throws IOException {
        RunFolder run = SampleRuns.finished(folder.resolve("digits"), 1, 1e-3);
        SampleRuns.finished(folder.resolve("digits/baseline"), 1, 0);
        String page = Report.of(run).html();
        assertTrue(page.contains("<strong>97.8 %</strong> <span>−0.7 points to the original</span>"));
        assertTrue(page.contains("<strong>13.2 %</strong> <span>9,022 of 68,170</span>"));
        assertEquals(
                List.of(
                        "| Model | Accuracy | Groups kept | Parameters | FLOPs | Latency | Speed-up | Latency, 4 threads | Size of the file |",
                        "| original | 98.5 % | 100.0 % | 68,170 | 6.12 M | 0.231 ms | 1.00 × | 0.094 ms | 274 kB |",
                        "| unpruned | model.onnx | 97.8 % | 25.2 % | 68,170 | 6.12 M | 0.231 ms | 1.00 × | 0.094 ms | 274 kB |",
                        "| small | pruned.onnx | 97.8 % | 24.4 % | 9,022 | 1.13 M | 0.079 ms | 2.92 × | 0.041 ms | 37.5 kB |"),
                rows(page, "The models of this run"));
        assertTrue(
                lead(page).contains("97.8 %. Compared with the original, its accuracy changes by −0.7 points."),
                lead(page));
        List<String> layers = rows(page, "Layers before and after pruning");
        assertEquals(6, layers.size());
        assertTrue(layers.get(2).startsWith("| conv2 | Conv | "), layers.get(2));
        assertTrue(layers.get(2).contains("inputs have no weight"), layers.get(2));
        assertEquals(31, rows(page, "All evaluations of seed 1").size());
        assertTrue(page.contains("[penalty]\nkind = &quot;group-mcp&quot;\n"));
        assertTrue(page.contains("<dt>Commit</dt><dd>0123456789abcdef0123456789abcdef01234567</dd>"));
        assertEquals(
                5,
                Pattern.compile("<img src=\"data:image/png;base64,")
                        .matcher(page)
                        .results()
                        .count());
    }

    @Test
    void chartsHaveTheCurvesOfTheRunAndOfItsBaselineAndThePhases() throws IOException {
        RunFolder run = SampleRuns.finished(folder.resolve("digits"), 1, 1e-3);
        SampleRuns.finished(folder.resolve("digits/baseline"), 1, 0);
        JsonNode loss = chart(Report.of(run).html(), "loss");
        assertEquals(
                List.of("evaluation", "training", "original"), loss.get("lines").findValuesAsText("name"));
        assertEquals(
                List.of("warm-up 0 to 5", "sparsify 5 to 24", "heal 24 to 30"),
                StreamSupport.stream(loss.get("bands").spliterator(), false)
                        .map(band -> "%s %d to %d"
                                .formatted(
                                        band.get("name").asText(),
                                        band.get("from").asInt(),
                                        band.get("to").asInt()))
                        .toList());
        assertEquals(
                run.metrics().getLast().loss(), loss.at("/lines/0/points/29/1").asDouble(), 1e-6);
        JsonNode history = chart(Report.of(run).html(), "history");
        assertEquals(32, history.at("/notes/1").asInt());
        assertEquals(0.5, history.at("/cells/1/29").asDouble());
    }

    private static String lead(String page) {
        Matcher lead = Pattern.compile("<p class=\"lead\">(.*?)</p>").matcher(page);
        assertTrue(lead.find());
        return lead.group(1);
    }

    @Test
    void whatTheModelGetsRightAndWrongIsToldClassByClass() throws IOException {
        RunFolder run = SampleRuns.finished(folder.resolve("classes"), 1, 1e-3);
        run.write(SampleRuns.classes(4, false));
        String page = Report.of(run).html();
        assertEquals(
                "On the test split, the small model classifies 146 of 160 samples correctly (91.3 %); always predicting &#39;class 0&#39;"
                        + " gives 25.0 %. It keeps 13.2 % of the parameters and needs 34 % of the time for a sample."
                        + " It most often predicts class 1 as class 2 (12 of 40). Its lowest recall is that of class 1: 70.0 %.",
                lead(page));
        assertTrue(page.contains("The training split has 400 samples, the validation split 40, the test split 160."));
        assertEquals(
                List.of(
                        "| class 0 | class 1 | class 2 | class 3 |",
                        "| class 0 | 40 | 0 | 0 | 0 |",
                        "| class 1 | 0 | 28 | 12 | 0 |",
                        "| class 2 | 0 | 0 | 38 | 2 |",
                        "| class 3 | 0 | 0 | 0 | 40 |"),
                rows(page, "Confusion matrix"));
        assertEquals(
                "| class 1 | 101 | 40 | 40 | 70.0 % | 70.0 % |",
                rows(page, "Classes").get(2));
        assertEquals(
                "| 1 | class 0 | class 1 | 97.1 % sure, and 2.9 % of it | 1.25 | &lt;red&gt; |",
                rows(page, "Mistakes").get(1));
        assertTrue(page.contains("<summary>16 more</summary>"));
    }

    @Test
    void ofManyClassesOnlyTheWorstAreShown() throws IOException {
        RunFolder run = SampleRuns.finished(folder.resolve("many"), 1, 1e-3);
        run.write(SampleRuns.classes(1000, false));
        String page = Report.of(run).html();
        assertFalse(page.contains("Confusion matrix"));
        List<String> pairs = rows(page, "Classes that are taken for each other most often");
        assertEquals(21, pairs.size());
        assertEquals("| class 1 | class 2 | 12 | 30.0 % |", pairs.get(1));
        assertEquals(21, rows(page, "Classes").size());
        assertTrue(page.contains("Of 1,000, these 20 are found least."));
    }

    @Test
    void estimatesAreDrawnAgainstTheTruth() throws IOException {
        RunFolder run = SampleRuns.finished(folder.resolve("quantities"), 1, 1e-3);
        run.write(SampleRuns.quantities());
        String page = Report.of(run).html();
        assertTrue(
                lead(page)
                        .startsWith(
                                "On the test split, half of the small model&#39;s estimates of price are off by at most 3370, nine"));
        assertEquals(700, chart(page, "quantity-0").get("points").size());
        assertEquals(41, chart(page, "quantity-0-errors").get("counts").size());
        assertTrue(page.contains("2 more numbers are estimated."));
        assertTrue(page.contains("<p>A &lt;b&gt;dear&lt;/b&gt; house</p>"));
    }

    @Test
    void fidelityIsTold() throws IOException {
        RunFolder run = SampleRuns.finished(folder.resolve("fidelity"), 1, 1e-3);
        run.write(SampleRuns.fidelity(false));
        String page = Report.of(run).html();
        assertTrue(
                lead(page)
                        .startsWith(
                                "The small model predicts the same class as the original in 97.4 % of all cases, and a model that always gives the same output in 31.00 %: a skill of 0.96. It"),
                lead(page));
        assertTrue(page.contains("median 0.99962, 1st percentile 0.9981, minimum 0.970"), page);
        assertTrue(page.contains("in 0 answers of the original and 2 of the small model, the first for rows 17, 31."));
        assertEquals("cosine", chart(page, "cosines-1").get("axis").asText());
        assertEquals(
                "| 5 | 0.910 | 2.5 | class 0 (61 %) | class 3 (48 %) |",
                rows(page, "Rows for which logits differs most").get(1));
        assertEquals(
                "| 2 | 0.970 | 0.31 |",
                rows(page, "Rows for which vector differs most").get(1));
        assertTrue(page.contains("<h2>Where it differs most</h2>"));
        assertTrue(page.contains("<p>What &lt;b&gt;did&lt;/b&gt; the Normans call row 2?</p>"));
        // Both files, on one thread and on four.
        assertTrue(
                rows(page, "The models of this run").get(2).endsWith("| 0.079 ms | 2.92 × | 0.041 ms | 37.5 kB |"),
                () -> "" + rows(page, "The models of this run"));
        String beside = Report.of(SampleRuns.comparison(true)).html();
        assertTrue(beside.contains("<h1>small&lt;er&gt;.onnx</h1>"));
        assertTrue(beside.contains("compared in their order: y with vector."));
        assertEquals(
                "| small | small&lt;er&gt;.onnx | 47.1 MB | 11,910,144 | 289 M | 4.9 ms | 2.4 ms |",
                rows(beside, "Both models").get(2));
        assertTrue(beside.contains("<strong>1.95 ×</strong>"), beside);
    }

    @Test
    void labelsAndAnswersAreCounted() throws IOException {
        RunFolder run = SampleRuns.finished(folder.resolve("labels"), 1, 1e-3);
        Findings.Samples samples = new Findings.Samples(9, 0, 4);
        run.write(new Findings(
                samples, new Findings.Outcome.Labels(List.of(new Findings.Tally("wet", 5, 3, 4, 2))), List.of()));
        String page = Report.of(run).html();
        assertTrue(
                lead(page)
                        .startsWith(
                                "Of 3 labels in the test split, the small model finds 2, and it predicts 2 that are not there."));
        assertEquals(
                "| wet | 5 | 3 | 4 | 66.7 % | 50.0 % |", rows(page, "Labels").get(1));
        assertTrue(page.contains("the test split 4; the test split also served for validation."));
        assertFalse(page.contains("id=\"mistakes\""));
        run.write(new Findings(samples, new Findings.Outcome.Answers(2, 1, 1), List.of()));
        page = Report.of(run).html();
        assertTrue(
                lead(page)
                        .startsWith(
                                "Of 4 questions in the test split, the small model answers 2 as people did, and 1 more in part."));
        assertEquals("| wrong | 1 | 25.0 % |", rows(page, "Answers").get(3));
    }

    /** Runs of older versions, and tasks that tell nothing of single samples. */
    @Test
    void withoutFindingsThereAreScores() throws IOException {
        RunFolder run = SampleRuns.finished(folder.resolve("old"), 1, 1e-3);
        String page = Report.of(run).html();
        assertEquals(
                "On the test split, the accuracy of the small model is 97.8 %. It keeps 13.2 % of the parameters and needs 34 %"
                        + " of the time for a sample.",
                lead(page));
        assertFalse(page.contains("id=\"outcome\""));
        assertFalse(page.contains("id=\"columns\""));
    }

    @Test
    void whatUsersWroteIsTextAndNeverMarkup() throws IOException {
        String evil = "</script><script>alert(1)</script>\"'&amp;{{recipe}}";
        RunFolder run = SampleRuns.finished(folder.resolve("x<img src=y>"), 1, 1e-3);
        Files.writeString(run.recipe(), "# " + evil);
        String metrics = Files.readString(run.metricsFile());
        Files.writeString(
                run.metricsFile(),
                metrics.replace("conv2.weight", "</script><b>layer").replace("sparsify", "<i>phase</i>"));
        String page = Report.of(run).html();
        assertEquals(page.length(), page.replace("<img src=y>", "").length());
        assertFalse(page.contains("<script>alert"));
        assertFalse(page.contains("</script><b>"));
        assertFalse(page.contains("<i>phase"));
        assertTrue(page.contains(
                "# &lt;/script&gt;&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;&amp;amp;{{recipe}}</code>"));
        assertEquals("</script><b>layer", chart(page, "history").at("/rows/1").asText());
        Path comparison = folder.resolve("comparison.html");
        Report.of(List.of(run, SampleRuns.underWay(folder.resolve("b"), 1, 0, 2)))
                .write(comparison);
        assertFalse(Files.readString(comparison).contains("<img src=y>"));
    }

    @Test
    void nothingIsFetchedFromAnywhere() throws IOException {
        String page =
                Report.of(SampleRuns.finished(folder.resolve("a"), 1, 1e-3)).html();
        assertTrue(page.contains("default-src &#39;none&#39;"));
        assertEquals(
                List.of(),
                Pattern.compile("(src|href)=\"(?!data:|#)[^\"]*\"")
                        .matcher(page.replaceAll("(?s)<script>.*?</script>", ""))
                        .results()
                        .map(MatchResult::group)
                        .toList());
    }

    @Test
    void aRunThatIsNotFinishedTellsWhatThereIs() throws IOException {
        RunFolder run = SampleRuns.underWay(folder.resolve("open"), 1, 1e-3, 7);
        String page = Report.of(run).html();
        assertTrue(page.contains("<span class=\"status open\">not finished</span>"));
        assertTrue(page.contains("<dt>Epochs done</dt><dd><strong>7</strong> <span>in phase sparsify</span>"));
        assertFalse(page.contains("id=\"result\""));
        assertFalse(page.contains("id=\"layers\""));
        assertTrue(page.contains("id=\"recipe\""));
    }

    @Test
    void aRunThatHasJustBegunSaysSo() throws IOException {
        String page = Report.of(SampleRuns.underWay(folder.resolve("open"), 1, 1e-3, 0))
                .html();
        assertTrue(page.contains("Nothing has been evaluated yet."));
        assertEquals("[]", charts(page).toString());
        assertFalse(page.contains("id=\"curves\""));
    }

    @Test
    void aDamagedModelCostsTheLayersOnly() throws IOException {
        RunFolder run = SampleRuns.finished(folder.resolve("a"), 1, 1e-3);
        Files.writeString(run.model(), "not a model");
        String page = Report.of(run).html();
        assertTrue(page.contains("model.onnx cannot be read: "));
        assertFalse(page.contains("id=\"layers\""));
        assertTrue(page.contains("id=\"curves\""));
    }

    @Test
    void seedsAreSummedUpAsMeanAndDeviation() throws IOException {
        RunFolder run = new RunFolder(folder.resolve("seeds"));
        for (long seed = 1; seed <= 3; seed++) {
            SampleRuns.finished(run.seed(seed).path(), seed, 1e-3);
        }
        SampleRuns.underWay(run.seed(4).path(), 4, 1e-3, 10);
        String page = Report.of(run).html();
        List<String> seeds = rows(page, "The seeds of this run");
        assertEquals("| seed 2 | 97.6 % | 25.2 % | 13.2 % | 18.5 % | 2.92 × | 0.001 | 1 min 51 s |", seeds.get(2));
        assertEquals("| seed 4 | – | – | – | – | – | – | – |", seeds.get(4));
        assertTrue(seeds.get(5).startsWith("| mean ± deviation | 97.8 ± 0.2 % |"), seeds.get(5));
        assertTrue(page.contains("not finished"));
        JsonNode lines = chart(page, "groups").get("lines");
        assertEquals(List.of("FAINT", "FAINT", "FAINT", "FAINT", "SOLID"), lines.findValuesAsText("stroke"));
        assertEquals(10, lines.get(4).get("points").size());
        assertEquals(3, lines.at("/4/points/9").size());
        assertTrue(page.contains("Of several seeds, this shows seed 1."));
        assertTrue(page.contains("<dt>Seed</dt><dd>1, 2, 3, 4</dd>"));
    }

    @Test
    void aRunThatWasGivenUpSaysWhy() throws IOException {
        RunFolder run = SampleRuns.underWay(folder.resolve("lost"), 1, 1e-3, 3);
        run.giveUp("the mean loss is <NaN>: lower optimizer.rate = 0.1");
        String page = Report.of(run).html();
        assertTrue(page.contains("<span class=\"status open\">given up</span>"));
        assertTrue(
                page.contains("The training was given up: the mean loss is &lt;NaN&gt;: lower optimizer.rate = 0.1"));
        RunFolder other = SampleRuns.finished(folder.resolve("good"), 1, 1e-3);
        List<String> runs = rows(Report.of(List.of(run, other)).html(), "The runs");
        assertTrue(runs.get(1).startsWith("| lost | given up | – |"), runs.get(1));
    }

    @Test
    void aRunWhosePrunedModelIsSlowerSaysThat() throws IOException {
        RunFolder run = SampleRuns.finished(folder.resolve("slow"), 1, 1e-3);
        assertFalse(Report.of(run).html().contains("is slower"));
        run.write(run.result().orElseThrow().withLatency(1, 2));
        String page = Report.of(run).html();
        assertTrue(page.contains(
                "<p class=\"note\">The pruned model is slower: 2.00 ms instead of 1.00 ms. Changed were "));
        assertTrue(page.contains(" inputs, "), page);
    }

    @Test
    void ofSeveralSeedsTheOneThatWasGivenUpSaysWhy() throws IOException {
        RunFolder run = new RunFolder(folder.resolve("seeds"));
        SampleRuns.finished(run.seed(1).path(), 1, 1e-3);
        SampleRuns.underWay(run.seed(2).path(), 2, 1e-3, 4).giveUp("no better than chance");
        assertTrue(Report.of(run).html().contains("The training of seed 2 was given up: no better than chance"));
    }

    /** Losses below zero have no logarithm. */
    @Test
    void aLossMayBeBelowZero() throws IOException {
        RunFolder run = new RunFolder(folder.resolve("below"));
        Files.createDirectories(run.path());
        Metrics line = SampleRuns.underWay(folder.resolve("digits"), 1, 1e-3, 3)
                .metrics()
                .getFirst();
        for (double loss : List.of(0.5, -1.0, -50.0)) {
            run.append(new Metrics(
                    line.step(),
                    line.epoch() - loss,
                    line.phase(),
                    line.seconds(),
                    line.samplesPerSecond(),
                    line.learningRate(),
                    line.lambda(),
                    loss,
                    line.trainScores(),
                    line.penalty(),
                    loss,
                    line.scores(),
                    line.groupsLeft(),
                    line.iterationsPerGroup(),
                    line.skippedSteps(),
                    line.nonZeroGroups(),
                    line.data()));
        }
        assertFalse(chart(Report.of(run).html(), "loss").get("logarithmic").asBoolean());
    }

    /** F1 is not what training counts: the two are no curves of one chart. */
    @Test
    void whatIsCountedOtherwiseInTrainingHasAChartAndAColumnOfItsOwn() throws IOException {
        RunFolder run = new RunFolder(folder.resolve("squad"));
        for (Metrics line :
                SampleRuns.underWay(folder.resolve("digits"), 1, 1e-3, 3).metrics()) {
            Files.createDirectories(run.path());
            run.append(new Metrics(
                    line.step(),
                    line.epoch(),
                    line.phase(),
                    line.seconds(),
                    line.samplesPerSecond(),
                    line.learningRate(),
                    line.lambda(),
                    line.trainLoss(),
                    new LinkedHashMap<>(Map.of(Metric.share("exact_spans"), 0.25)),
                    line.penalty(),
                    line.loss(),
                    new LinkedHashMap<>(Map.of(Metric.share("f1"), 0.5)),
                    line.groupsLeft(),
                    line.iterationsPerGroup(),
                    line.skippedSteps(),
                    line.nonZeroGroups(),
                    line.data()));
        }
        String page = Report.of(run).html();
        assertEquals(List.of("evaluation"), chart(page, "score-f1").get("lines").findValuesAsText("name"));
        assertEquals(
                "Exact spans in training",
                chart(page, "train-exact_spans").get("title").asText());
        assertTrue(rows(page, "All evaluations of squad")
                .getFirst()
                .contains("| Exact spans in training | Groups kept |"));
        assertFalse(page.contains("Accuracy"), "nobody counted that");
    }

    @Test
    void aComparisonHasARowAndALineForEachRunAndTheKeysThatDiffer() throws IOException {
        RunFolder one = SampleRuns.finished(folder.resolve("one"), 1, 1e-3);
        SampleRuns.finished(folder.resolve("one/baseline"), 1, 0);
        RunFolder two = SampleRuns.finished(folder.resolve("two"), 2, 1e-4);
        RunFolder open = SampleRuns.underWay(folder.resolve("open"), 2, 1e-2, 3);
        String page = Report.of(List.of(one, two, open)).html();
        List<String> runs = rows(page, "The runs");
        assertEquals("| one, original | 98.5 % | 100.0 % | 100.0 % | 100.0 % | 1.00 × | 0 | 1 min 51 s |", runs.get(1));
        assertEquals("| two | 97.6 % | 25.2 % | 13.2 % | 18.5 % | 2.92 × | 1e-4 | 1 min 51 s |", runs.get(3));
        assertTrue(runs.get(4).startsWith("| open | not finished | – |"), runs.get(4));
        assertEquals(
                List.of("| Key | one | two | open |", "| penalty.lambda | 0.001 | 1.0E-4 | 0.01 |"),
                rows(page, "Keys in which the recipes differ"));
        assertEquals(
                List.of("one", "two", "open"), chart(page, "loss").get("lines").findValuesAsText("name"));
        assertEquals(List.of("one", "two"), chart(page, "size").get("points").findValuesAsText("name"));
        assertEquals(0, chart(page, "loss").get("bands").size());
    }

    @Test
    void runsOfTheSameNameAreToldApart() throws IOException {
        RunFolder one = SampleRuns.underWay(folder.resolve("a/run"), 1, 1e-3, 2);
        RunFolder two = SampleRuns.underWay(folder.resolve("b/run"), 1, 1e-3, 2);
        assertEquals(
                List.of(one.path().toString(), two.path().toString()),
                chart(Report.of(List.of(one, two)).html(), "loss").get("lines").findValuesAsText("name"));
    }

    @Test
    void aFolderWithoutARunIsRefused() throws IOException {
        assertThrows(NoSuchFileException.class, () -> Report.of(new RunFolder(folder.resolve("missing"))));
        String refusal = assertThrows(IllegalArgumentException.class, () -> Report.of(new RunFolder(folder)))
                .toString();
        assertTrue(refusal.contains("is no folder of a run"), refusal);
        assertThrows(IllegalArgumentException.class, () -> Report.of(List.of()));
    }

    @Test
    void aSweepHasItsPointsByLambdaAndLeadsToTheirReports() throws IOException {
        RunFolder strong = SampleRuns.finished(folder.resolve("strong run"), 1, 1e-2);
        RunFolder weak = SampleRuns.finished(folder.resolve("weak"), 2, 1e-4);
        RunFolder open = SampleRuns.underWay(folder.resolve("open"), 2, 1e-3, 5);
        Report.of(strong).write(strong.report());
        List<SweepPage.Point> points = List.of(
                SweepPage.Point.of(1e-2, SampleRuns.ACCURACY, strong).orElseThrow(),
                SweepPage.Point.of(1e-4, SampleRuns.ACCURACY, weak).orElseThrow());
        assertTrue(SweepPage.Point.of(1e-3, SampleRuns.ACCURACY, open).isEmpty());
        Path file = folder.resolve("sweep.html");
        new SweepPage("digits", SampleRuns.ACCURACY, points, OptionalDouble.of(0.985)).write(file);
        String page = Files.readString(file);
        assertEquals(
                List.of(
                        "| λ | Small model&#39;s accuracy | Groups kept | Parameters kept | Run |",
                        "| original | 98.5 % | 100.0 % | 100.0 % | – |",
                        "| 1e-4 | 97.6 % | 25.2 % | 13.2 % | weak |",
                        "| 0.01 | 97.8 % | 25.2 % | 13.2 % | strong run |"),
                rows(page, "The runs of the sweep"));
        assertTrue(page.contains("<a href=\"strong%20run/report.html\">strong run</a>"));
        assertFalse(page.contains("weak/report.html"));
        assertEquals(0.985, chart(page, "size").get("baseline").asDouble());
        assertEquals(
                List.of("λ = 1e-4", "λ = 0.01"),
                chart(page, "size").get("points").findValuesAsText("name"));
    }
}
