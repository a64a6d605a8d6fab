package dev.espalier.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.espalier.train.journal.RunFolder;
import dev.espalier.train.study.Outcome;
import dev.espalier.train.study.Outcome.End;
import dev.espalier.train.study.Plan;
import dev.espalier.train.study.Plan.Branch;
import dev.espalier.train.study.StudyResult;
import dev.espalier.train.study.Trial;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the page of a study says, however far the study has come. */
final class StudyPageTest {
    private static final String EVIL = "<script>alert(\"1\")</script>";

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path folder;

    private static List<String> rows(String page) {
        String table = page.substring(page.indexOf("<tbody>"), page.indexOf("</tbody>"));
        return Pattern.compile("<tr.*?>(.*?)</tr>", Pattern.DOTALL)
                .matcher(table)
                .results()
                .map(row -> row.group(1)
                        .replaceAll("</t[hd]>", "|")
                        .replaceAll("<[^>]*>", "")
                        .replaceAll("\\s+", " ")
                        .replaceAll(" ?\\| ?", " | ")
                        .strip())
                .toList();
    }

    private static JsonNode chart(String page, String kind) throws IOException {
        Matcher script = Pattern.compile("<script type=\"application/json\" id=\"charts\">(.*?)</script>")
                .matcher(page);
        assertTrue(script.find());
        for (JsonNode chart : new ObjectMapper().readTree(script.group(1))) {
            if (chart.get("kind").asText().equals(kind)) {
                return chart;
            }
        }
        throw new AssertionError("no " + kind);
    }

    /** Two λs with two seeds each. */
    private Plan plan() {
        Plan plan = SampleStudies.plan(folder, 2, 1, List.of(1L, 2L));
        return new Plan(
                plan.root(), List.of(plan.branches().get(0), plan.branches().get(2)), Optional.empty());
    }

    private static Outcome result(Trial trial, double score, double left) {
        return SampleStudies.result(trial, SampleStudies.ACCURACY, score, left);
    }

    private static StudyResult study(Plan plan, Outcome... outcomes) {
        SequencedMap<String, Outcome> byName = new LinkedHashMap<>();
        for (Outcome outcome : outcomes) {
            byName.put(outcome.trial(), outcome);
        }
        return new StudyResult(plan, byName);
    }

    @Test
    void aFinishedStudyHasItsNumbers() throws IOException {
        Plan plan = plan();
        List<Trial> trials = plan.trials();
        String page = StudyPage.of(
                        "two strengths",
                        study(
                                plan,
                                result(trials.get(0), 0.95, 0.5),
                                result(trials.get(1), 0.93, 0.4),
                                result(trials.get(2), 0.9, 0.1),
                                result(trials.get(3), 0.9, 0.1)))
                .html();
        assertEquals(
                List.of(
                        "1 | finished | 1e-4 | 5e-4 | adam | 94.0 ± 1.4 % | 49.5 ± 7.8 % | 45.0 ± 7.1 % | 59.2 ± 8.8 % | 0.151 ± 0.017 ms | 1.54 ± 0.18 × |",
                        "2 | finished | 0.02 | 5e-4 | adam | 90.0 ± 0.0 % | 11.0 ± 0.0 % | 10.0 ± 0.0 % | 15.5 ± 0.0 % | 0.0651 ms | 3.55 × |"),
                rows(page));
        assertTrue(page.contains("<b>4 of 4 trials done</b>"));
        assertTrue(page.contains("<p class=\"kind\">Study, 4 trials at 2 points</p>"));
        assertTrue(page.contains("<span class=\"status\">finished</span>"));
        assertTrue(page.contains("Better is up and to the left."));
        JsonNode tradeOff = chart(page, "TradeOff");
        assertEquals(
                "[0.94,0.45,0.5924999,0.1509874]",
                tradeOff.at("/points/0/values").toString());
        assertEquals("[true,true,true]", tradeOff.at("/points/1/front").toString());
        JsonNode parallel = chart(page, "Parallel");
        assertEquals("lambda", parallel.at("/dimensions/0/name").asText());
        assertEquals("[\"1e-4\",\"0.02\"]", parallel.at("/dimensions/0/words").toString());
        assertEquals("[1,0,0,0.9,0.1]", parallel.at("/strands/1/values").toString());
    }

    @Test
    void whereASizeWasRequestedItIsNextToWhatWasReached() throws IOException {
        Plan plan = plan();
        Branch plain = plan.branches().getFirst();
        Branch sized = Branch.of(
                plan.root(),
                "sized",
                plain.recipe().with("target.kind=parameters", "target.share=0.3"),
                plain.point(),
                true);
        Plan both = new Plan(plan.root(), List.of(plain, sized), Optional.empty());
        List<Trial> trials = both.trials();
        String page = StudyPage.of(
                        "a size", study(both, result(trials.get(0), 0.95, 0.5), result(trials.get(2), 0.9, 0.296)))
                .html();
        assertTrue(page.contains(">Requested</th>") && page.contains(">Reached</th>"));
        assertTrue(
                rows(page).get(0).endsWith(" | – | – | 1 of 2 seeds finished |"),
                rows(page).get(0));
        assertTrue(
                rows(page).get(1).contains(" | 30.0 % of parameters | 29.6 % |"),
                rows(page).get(1));
    }

    @Test
    void lowerIsBetterWhereTheMetricSaysSo() throws IOException {
        Plan plan = plan();
        String page = StudyPage.of(
                        "errors", new StudyResult(plan, SampleStudies.finished(plan, SampleStudies.ERROR, 4)))
                .html();
        assertTrue(page.contains("Better is down and to the left."));
        assertTrue(page.contains("<th scope=\"col\" data-better=\"low\" title=\"Lower is better\">Mean error</th>"));
        assertEquals("LOWER", chart(page, "TradeOff").at("/score/better").asText());
    }

    @Test
    void aHalfDoneStudySaysHowFarEachIs() throws IOException {
        Plan plan = SampleStudies.plan(folder, 4, 1, List.of(1L));
        List<Trial> trials = plan.trials();
        SampleStudies.train(folder, trials.get(1), 7);
        SampleStudies.train(folder, trials.get(2), 0);
        SampleStudies.train(folder, trials.get(3), 3);
        new RunFolder(folder.resolve(trials.get(3).name())).leave();
        RunFolder ended = new RunFolder(folder.resolve(trials.get(0).name()));
        Files.createDirectories(ended.path());
        Files.writeString(ended.report(), "a report");
        String page = StudyPage.of(
                        "half",
                        study(
                                plan,
                                result(trials.get(0), 0.95, 0.5),
                                new Outcome(trials.get(4).name(), End.FAILED, "no memory is left"),
                                new Outcome(trials.get(5).name(), End.GIVEN_UP, "the loss is not finite"),
                                new Outcome(trials.get(6).name(), End.STOPPED, "")))
                .html();
        List<String> rows = rows(page);
        assertTrue(rows.get(0).startsWith("1 | finished |"), rows.get(0));
        assertTrue(rows.get(1).startsWith("2 | running epoch 7 of 30 |"), rows.get(1));
        assertTrue(rows.get(1).contains("| 85.9 % | 75.0 % | – |"), rows.get(1));
        assertTrue(rows.get(2).startsWith("3 | running epoch 0 of 30 |"), rows.get(2));
        assertTrue(rows.get(3).startsWith("4 | under way epoch 3 of 30 |"), rows.get(3));
        assertTrue(rows.get(4).startsWith("5 | failed |"), rows.get(4));
        assertTrue(rows.get(4).endsWith("| no memory is left |"), rows.get(4));
        assertTrue(rows.get(5).startsWith("6 | given up |"), rows.get(5));
        assertTrue(rows.get(6).startsWith("7 | stopped |"), rows.get(6));
        assertTrue(rows.get(7).startsWith("8 | waiting |"), rows.get(7));
        assertTrue(page.contains("<b>3 of 8 trials done</b>"));
        assertTrue(page.contains("<span class=\"status open\">running</span>"));
        assertTrue(page.contains("<a href=\"lambda-1e-4%2Crate-5e-4%2Ckind-adam/report.html\""));
        assertEquals(1, chart(page, "TradeOff").get("points").size());
        assertFalse(page.contains("<figure class=\"chart\" data-chart=\"parallel\""));
    }

    @Test
    void seedsOfAPointMayEndDifferently() {
        Plan plan = plan();
        List<Trial> trials = plan.trials();
        List<String> rows = rows(StudyPage.of(
                        "seeds",
                        study(
                                plan,
                                result(trials.get(0), 0.95, 0.5),
                                new Outcome(trials.get(1).name(), End.FAILED, "no memory is left"),
                                result(trials.get(2), 0.9, 0.1)))
                .html());
        assertTrue(rows.get(0).startsWith("1 | failed |"), rows.get(0));
        assertTrue(rows.get(0).endsWith("| 1 of 2 seeds finished; seed 2 failed: no memory is left |"), rows.get(0));
        assertTrue(rows.get(0).contains("| 95.0 % |"), rows.get(0));
        assertTrue(rows.get(1).startsWith("2 | waiting |"), rows.get(1));
        assertTrue(rows.get(1).endsWith("| 1 of 2 seeds finished |"), rows.get(1));
    }

    @Test
    void whatPausesIsNotDoneAndWhatWasLeftBehindIs() {
        Plan plan = SampleStudies.plan(folder, 2, 1, List.of(1L));
        List<Trial> trials = plan.trials();
        String page = StudyPage.of(
                        "h",
                        study(
                                plan,
                                SampleStudies.leftBehind(trials.get(0), 10, 0.5),
                                SampleStudies.paused(trials.get(1), 20, 0.7),
                                result(trials.get(2), 0.9, 0.1)))
                .html();
        List<String> rows = rows(page);
        assertTrue(rows.get(0).startsWith("1 | left behind after epoch 10 |"), rows.get(0));
        assertTrue(rows.get(0).contains("| 50.0 % | 75.0 % | – |"), rows.get(0));
        assertTrue(rows.get(1).startsWith("2 | paused after epoch 20 |"), rows.get(1));
        assertTrue(rows.get(3).startsWith("4 | waiting |"), rows.get(3));
        assertTrue(page.contains("<b>2 of 4 trials done</b>"));
    }

    @Test
    void anEmptyStudyIsAPageToo() {
        Plan plan = SampleStudies.plan(folder, 2, 1, List.of(1L));
        String page = StudyPage.of("empty", new StudyResult(plan, new LinkedHashMap<>()))
                .html();
        assertTrue(page.contains("<b>0 of 4 trials done</b>"));
        assertTrue(page.contains("<span class=\"status open\">waiting</span>"));
        assertFalse(page.contains("<figure"));
        assertFalse(page.contains("class=\"cards"));
        String none = StudyPage.of(
                        "none",
                        new StudyResult(
                                new Plan(folder.toString(), List.of(), Optional.empty()), new LinkedHashMap<>()))
                .html();
        assertTrue(none.contains("This study has no trials."));
    }

    @Test
    void aStudyOnAnotherMachineHasItsLinksToo() {
        Plan plan = SampleStudies.plan(folder, 1, 1, List.of(1L));
        Plan far = new Plan("hdfs://cluster/studies/one", plan.branches(), Optional.empty());
        String page = StudyPage.of("far", study(far, result(far.trials().getFirst(), 0.9, 0.1)))
                .html();
        assertTrue(page.contains("<a href=\"lambda-1e-4%2Crate-5e-4%2Ckind-adam/report.html\""));
    }

    @Test
    void aDamagedOutcomeIsSaidAndTheOthersAreShown() {
        Plan plan = plan();
        List<Trial> trials = plan.trials();
        List<String> rows = rows(StudyPage.of(
                        "damaged",
                        study(
                                plan,
                                new Outcome(trials.get(0).name(), End.FINISHED, "{"),
                                result(trials.get(2), 0.9, 0.1),
                                result(trials.get(3), 0.9, 0.1)))
                .html());
        assertTrue(rows.get(0).contains("is damaged"), rows.get(0));
        assertTrue(rows.get(1).startsWith("2 | finished |"), rows.get(1));
    }

    @Test
    void textIsNeverMarkup() throws IOException {
        Plan plan = plan();
        Branch first = plan.branches().getFirst();
        SequencedMap<String, String> point = new LinkedHashMap<>(Map.of("data." + EVIL, '"' + EVIL + '"'));
        Branch evil = Branch.of(plan.root(), "run-" + EVIL.replace('/', '_'), first.recipe(), point, false);
        Plan study = new Plan(plan.root(), List.of(evil, first), Optional.empty());
        List<Trial> trials = study.trials();
        String page = StudyPage.of(
                        EVIL,
                        study(
                                study,
                                result(trials.get(0), 0.9, 0.1),
                                new Outcome(trials.get(1).name(), End.FAILED, EVIL),
                                result(trials.get(2), 0.9, 0.1)))
                .html();
        assertFalse(page.contains("<script>alert"));
        assertTrue(page.contains("&lt;script&gt;alert"));
        assertTrue(chart(page, "TradeOff").at("/points/0/name").asText().contains(EVIL));
    }

    /** Slow and obvious: whoever is not beaten. */
    private static Set<Integer> naiveFront(List<Double> goodness, List<Double> costs) {
        Set<Integer> front = new HashSet<>();
        for (int i = 0; i < goodness.size(); i++) {
            boolean beaten = !Double.isFinite(goodness.get(i)) || !Double.isFinite(costs.get(i));
            for (int j = 0; j < goodness.size(); j++) {
                boolean known = Double.isFinite(goodness.get(j)) && Double.isFinite(costs.get(j));
                boolean asGood = goodness.get(j) >= goodness.get(i) && costs.get(j) <= costs.get(i);
                boolean better = goodness.get(j) > goodness.get(i) || costs.get(j) < costs.get(i);
                beaten |= known && asGood && better;
            }
            if (!beaten) {
                front.add(i);
            }
        }
        return front;
    }

    @Test
    void theFrontIsThatOfItsDefinition() {
        SplittableRandom random = new SplittableRandom(7);
        for (int round = 0; round < 300; round++) {
            List<Double> goodness = new ArrayList<>();
            List<Double> costs = new ArrayList<>();
            // Few different numbers, so that many are equal; some are none.
            int different = 1 + random.nextInt(12);
            for (int i = random.nextInt(30); i > 0; i--) {
                goodness.add(random.nextInt(15) == 0 ? Double.NaN : (double) random.nextInt(different));
                costs.add(random.nextInt(15) == 0 ? Double.NaN : (double) random.nextInt(different));
            }
            assertEquals(naiveFront(goodness, costs), Front.of(goodness, costs), () -> goodness + " " + costs);
        }
    }

    @Test
    void theFrontIsMarkedInTheTable() {
        Plan plan = SampleStudies.plan(folder, 2, 1, List.of(1L));
        List<Trial> trials = plan.trials();
        String page = StudyPage.of(
                        "front",
                        study(
                                plan,
                                result(trials.get(0), 0.95, 0.5),
                                result(trials.get(1), 0.94, 0.6),
                                result(trials.get(2), 0.9, 0.1)))
                .html();
        assertTrue(page.contains("<tr data-row=\"1\" data-front=\"parameters flops latency\" class=\"front\">"));
        assertTrue(page.contains("<tr data-row=\"2\" data-front=\"\">"));
        assertTrue(page.contains("<tr data-row=\"3\" data-front=\"parameters flops latency\" class=\"front\">"));
        assertTrue(page.contains("<tr data-row=\"4\" data-front=\"\">"));
    }
}
