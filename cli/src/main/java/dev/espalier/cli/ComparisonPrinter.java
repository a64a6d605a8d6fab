package dev.espalier.cli;

import dev.espalier.train.journal.Comparison;
import dev.espalier.train.journal.FidelityFigure;
import dev.espalier.train.journal.Findings;
import dev.espalier.train.journal.Findings.Cosines;
import dev.espalier.train.journal.Findings.Likeness;
import dev.espalier.train.journal.Footprint;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** A comparison for a terminal. */
final class ComparisonPrinter {
    private ComparisonPrinter() {}

    static void print(Comparison found, PrintWriter out) {
        if (!found.warning().isEmpty()) {
            out.println(found.warning());
            out.println();
        }
        Footprint before = found.before();
        Footprint after = found.after();
        List<List<String>> costs = new ArrayList<>();
        costs.add(List.of("", "original", "small", ""));
        costs.add(left("size, bytes", (double) before.bytes(), (double) after.bytes()));
        costs.add(left("parameters", (double) before.parameters(), (double) after.parameters()));
        costs.add(left("FLOPs", before.flops(), after.flops()));
        costs.add(faster("latency, 1 thread", before.milliseconds(), after.milliseconds()));
        if (found.threads() > 1) {
            costs.add(faster(
                    "latency, %d threads".formatted(found.threads()),
                    before.threadedMilliseconds(),
                    after.threadedMilliseconds()));
        }
        Columns.print(costs, out);
        out.printf("FLOPs and latency are of one sample, %s.%n", found.sample());
        found.notes().forEach(out::println);
        for (Likeness output : found.likenesses()) {
            out.println();
            out.printf(
                    Locale.ROOT,
                    "%s, read as %s, in %,d samples of %s:%n",
                    output.output(),
                    output.meaning(),
                    output.samples(),
                    found.inputs());
            if (!output.figures().isEmpty()) {
                Columns.print(fidelities(output), out);
            }
            Columns.printWords(figures(output), out);
        }
    }

    private static List<String> left(String name, double before, double after) {
        return List.of(name, whole(before), whole(after), share(after / before) + " kept");
    }

    private static List<String> faster(String name, double before, double after) {
        return List.of(
                name,
                String.format(Locale.ROOT, "%.3g ms", before),
                String.format(Locale.ROOT, "%.3g ms", after),
                String.format(Locale.ROOT, "%.2f × as fast", before / after));
    }

    private static String whole(double number) {
        return Double.isFinite(number) ? String.format(Locale.ROOT, "%,.0f", number) : "–";
    }

    private static String share(double share) {
        return Double.isFinite(share) ? String.format(Locale.ROOT, "%.1f %%", 100 * share) : "–";
    }

    /** A row for each measure, the one that tells most first. */
    static List<List<String>> fidelities(Likeness output) {
        List<List<String>> rows = new ArrayList<>();
        rows.add(List.of("  measure", "small", "trivial model", "skill"));
        for (FidelityFigure figure : output.figures()) {
            FidelityFigure.Measure measure = figure.measure();
            rows.add(List.of(
                    "  " + measure.words(),
                    measure.write(figure.fidelity()),
                    measure.write(figure.trivial()),
                    figure.skillInWords()));
        }
        return rows;
    }

    private static List<List<String>> figures(Likeness output) {
        List<List<String>> figures = new ArrayList<>();
        if (Double.isFinite(output.agreement())) {
            figures.add(List.of("  divergence (KL)", String.format(Locale.ROOT, "%.3g", output.divergence())));
        }
        figures.add(List.of("  cosine", cosines(output.cosine())));
        if (Double.isFinite(output.tokenCosine().mean())) {
            figures.add(List.of("  cosine of tokens", cosines(output.tokenCosine())));
        }
        figures.add(List.of("  relative error", String.format(Locale.ROOT, "%.3g", output.relativeError())));
        figures.add(List.of("  largest difference", String.format(Locale.ROOT, "%.3g", output.largestDifference())));
        if (!output.notFinite().rows().isEmpty()) {
            figures.add(List.of(
                    "  not finite",
                    String.format(
                            Locale.ROOT,
                            "%,d answers of the original, %,d of the small model; these samples are omitted; the first are rows %s",
                            output.notFinite().original(),
                            output.notFinite().smaller(),
                            output.notFinite().rows())));
        }
        figures.add(List.of("  worst rows", worst(output)));
        return figures;
    }

    private static String cosines(Cosines cosine) {
        return "median %s, 1st percentile %s, minimum %s"
                .formatted(
                        Findings.cosine(cosine.median()),
                        Findings.cosine(cosine.low()),
                        Findings.cosine(cosine.least()));
    }

    private static String worst(Likeness output) {
        return output.worst().isEmpty()
                ? "none: both models give the same output for every row"
                : output.worst().stream()
                        .map(deviant -> String.format(
                                Locale.ROOT, "%,d (%s)", deviant.row(), Findings.cosine(deviant.cosine())))
                        .collect(Collectors.joining(", "));
    }
}
