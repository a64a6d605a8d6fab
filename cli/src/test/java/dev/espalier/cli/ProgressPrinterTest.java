package dev.espalier.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.train.journal.Metric;
import dev.espalier.train.journal.Metrics;
import dev.espalier.train.run.Progress;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

final class ProgressPrinterTest {
    private static final Progress HALF =
            new Progress(1, "heal", 30, 60, 2, 4, 0.5, Metric.share("accuracy"), 0.875, 0.25, 1234, "samples", 3725);

    private static final Metrics EVALUATED = new Metrics(
            30,
            2,
            "heal",
            1,
            1234,
            1e-3,
            0.02,
            0.5,
            new LinkedHashMap<>(),
            0,
            0.4,
            new LinkedHashMap<>(Map.of(Metric.share("exact_match"), 0.9)),
            0.25,
            1,
            0,
            new LinkedHashMap<>(),
            new LinkedHashMap<>());

    @Test
    void aBarShowsHowFarItIs() {
        StringWriter out = new StringWriter();
        assertEquals(
                "[############------------] mine: epoch 2 of 4, heal: loss 0.5000, accuracy 87.5 %, 25.0 % of groups kept,"
                        + " 1,234 samples/s, 1:02:05 left",
                new ProgressPrinter(new StatusLine(new PrintWriter(out), true), "mine").bar(HALF));
    }

    @Test
    void aSlowRateHasADecimalAndWhatIsCountedItsName() {
        Progress slow = new Progress(
                1, "heal", 30, 60, 2, 4, 0.5, Metric.share("exact_spans"), 0.875, 0.25, 6.08, "sequences", 60);
        String bar = new ProgressPrinter(new StatusLine(new PrintWriter(new StringWriter()), true), "").bar(slow);
        assertTrue(bar.contains(" loss 0.5000, exact spans 87.5 %,"), bar);
        assertTrue(bar.endsWith(" 6.1 sequences/s, 1:00 left"), bar);
    }

    @Test
    void onATerminalALineTakesThePlaceOfTheBar() {
        StringWriter out = new StringWriter();
        new ProgressPrinter(new StatusLine(new PrintWriter(out), true), "").onEvaluation(HALF, EVALUATED);
        assertTrue(
                out.toString().startsWith("\r\u001b[Kepoch 2 of 4, heal: loss 0.5000, exact match 90.00 %"),
                out.toString());
        assertTrue(out.toString().contains("(λ = 0.0200)"), out.toString());
    }

    @Test
    void elsewhereLinesArePlain() {
        StringWriter out = new StringWriter();
        ProgressPrinter printer = new ProgressPrinter(new StatusLine(new PrintWriter(out), false), "mine");
        printer.onStep(HALF); // too soon after the start for a line
        printer.onEvaluation(HALF, EVALUATED);
        printer.onNote("a note");
        assertEquals(2, out.toString().lines().count(), out.toString());
        assertFalse(out.toString().contains("\r"), out.toString());
        assertTrue(out.toString().endsWith("mine: a note" + System.lineSeparator()), out.toString());
    }
}
