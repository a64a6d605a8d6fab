package dev.espalier.cli;

import dev.espalier.train.journal.FidelityFigure;
import dev.espalier.train.journal.Footprint;
import dev.espalier.train.journal.ModelRow;
import dev.espalier.train.journal.OutputFidelity;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** A table of an original and the models that were made of it. */
final class ShrinkTable {
    private ShrinkTable() {}

    /** Prints the table, and under it, of models with several outputs, each output's fidelity. */
    static void print(List<ModelRow> models, PrintWriter out) {
        boolean several = models.stream().anyMatch(model -> model.fidelities().size() > 1);
        List<List<String>> rows = new ArrayList<>();
        rows.add(List.of("model", "fidelity", "trivial model", "skill", "parameters", "FLOPs", "file size", "latency"));
        models.forEach(model -> rows.add(row(model)));
        Columns.print(rows, out);
        out.println();
        models.stream().findFirst().ifPresent(original -> out.println(legend(original, several)));
        if (models.stream()
                .flatMap(model -> model.weakest().stream())
                .anyMatch(weakest -> Double.isNaN(weakest.figure().skill()))) {
            out.println(
                    "The skill is not known: the original's outputs do not change with the inputs of the test split, so these cannot tell models apart.");
        }
        if (several) {
            Columns.print(outputs(models), out);
        }
    }

    private static List<String> row(ModelRow model) {
        Optional<FidelityFigure> figure = model.weakest().map(OutputFidelity::figure);
        Footprint cost = model.cost();
        return List.of(
                model.model(),
                figure.map(found -> found.measure().write(found.fidelity())).orElse("–"),
                figure.map(found -> found.measure().write(found.trivial())).orElse("–"),
                figure.map(FidelityFigure::skillInWords).orElse("–"),
                count((double) cost.parameters()),
                count(cost.flops()),
                count((double) cost.bytes()) + " bytes",
                String.format(Locale.ROOT, "%.3g ms", cost.milliseconds()));
    }

    private static String count(double number) {
        return Double.isFinite(number) ? String.format(Locale.ROOT, "%,.0f", number) : "–";
    }

    private static String legend(ModelRow original, boolean several) {
        String cost = "FLOPs and latency, on one thread, are of %s."
                .formatted(original.samples() == 1 ? "one sample" : original.samples() + " samples");
        return original.fidelities().stream()
                .findFirst()
                .map(first -> several
                        ? "Fidelity is that of the output with the least skill, on the test split. The trivial model gives the same output for all inputs. "
                                + cost
                        : "Fidelity is the %s of the output %s with the original's, on the test split. The trivial model gives the same output for all inputs. %s"
                                .formatted(first.figure().measure().words(), first.output(), cost))
                .orElse(cost);
    }

    private static List<List<String>> outputs(List<ModelRow> models) {
        List<List<String>> rows = new ArrayList<>();
        rows.add(List.of("output", "model", "measure", "fidelity", "trivial model", "skill"));
        for (ModelRow model : models.subList(1, models.size())) {
            for (OutputFidelity output : model.fidelities()) {
                FidelityFigure figure = output.figure();
                rows.add(List.of(
                        output.output(),
                        model.model(),
                        figure.measure().words(),
                        figure.measure().write(figure.fidelity()),
                        figure.measure().write(figure.trivial()),
                        figure.skillInWords()));
            }
        }
        return rows;
    }
}
