package dev.espalier.reproduce;

import dev.espalier.report.Figure.Axis;
import dev.espalier.report.Figure.Curve;
import dev.espalier.report.Figure.Plot;
import dev.espalier.report.Figure.Point;
import dev.espalier.report.Figure.Stroke;
import dev.espalier.report.Unit;
import dev.espalier.train.journal.Metrics;
import dev.espalier.train.journal.RunFolder;
import dev.espalier.train.journal.RunResult;
import dev.espalier.train.journal.Spread;
import dev.espalier.train.recipe.Method;
import dev.espalier.train.recipe.Recipe;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.function.ToDoubleFunction;

/**
 * One of the paper's tables of trained models: a training for each row and seed.
 *
 * @param name what it is called on the command line
 * @param place where in the paper it is
 * @param table the table
 * @param changes what the trainings have otherwise than their recipes say, for tests
 */
record TrainedTable(String name, String place, PaperTable table, List<String> changes) implements Item {

    /** A table. */
    TrainedTable(String name, String place, PaperTable table) {
        this(name, place, table, List.of());
    }

    @Override
    public String title() {
        return table.title() + ": the price of group sparsity";
    }

    @Override
    public int seeds() {
        try {
            return ShippedRecipe.of(table.rows().getFirst().recipe(), List.of())
                    .training()
                    .seeds()
                    .size();
        } catch (IOException broken) {
            throw new UncheckedIOException(broken.getMessage(), broken);
        }
    }

    @Override
    public boolean trains() {
        return true;
    }

    @Override
    public void require(Setting setting) {
        Trainings.require(table, setting);
    }

    @Override
    public Optional<Findings> run(Setting setting) throws IOException {
        Trainings trainings = new Trainings(setting, changes);
        SequencedMap<PaperRow, Recipe> recipes = new LinkedHashMap<>();
        for (PaperRow row : table.rows()) {
            recipes.put(row, trainings.recipe(table, row));
        }
        SequencedMap<PaperRow, List<Trained>> found = new LinkedHashMap<>();
        for (Map.Entry<PaperRow, Recipe> row : recipes.entrySet()) {
            Optional<List<Trained>> trained = trainings.run(row.getKey().recipe(), row.getValue());
            if (trained.isEmpty()) {
                return Optional.empty();
            }
            found.put(row.getKey(), trained.get());
        }
        List<Trained> all = found.values().stream().flatMap(List::stream).toList();
        return Optional.of(new Findings(
                Trainings.computedBy(all),
                List.of(comparison(setting.scale(), found)),
                List.of(
                        price(found),
                        overEpochs("Group sparsity in training", "group sparsity", found, Metrics::groupsLeft),
                        overEpochs(
                                "Score in training",
                                mainFigure().label(),
                                found,
                                metrics -> metrics.scores().firstEntry().getValue())),
                notes(setting.scale(), found)));
    }

    /** What the models are for. */
    private PaperRow.Figure mainFigure() {
        return table.figures().getLast();
    }

    private Comparison comparison(Scale scale, SequencedMap<PaperRow, List<Trained>> found) {
        List<Comparison.Column> columns = new ArrayList<>();
        table.figures().forEach(figure -> columns.add(new Comparison.Column(figure.label(), Unit.SHARE)));
        columns.add(new Comparison.Column("parameters left", Unit.SHARE));
        List<Comparison.Row> rows = new ArrayList<>();
        found.forEach((row, trained) -> {
            List<Comparison.Cell> cells = new ArrayList<>();
            for (PaperRow.Figure figure : table.figures()) {
                cells.add(new Comparison.Cell(row.quote(figure), spread(trained, figure::of)));
            }
            cells.add(Comparison.Cell.ours(spread(trained, RunResult::parametersLeft)));
            rows.add(new Comparison.Row(row.name(), cells));
        });
        return new Comparison(
                table.title(),
                switch (scale) {
                    case SMALL ->
                        "At small scale ours is " + table.smallTitle() + ": not to be compared with the paper.";
                    case FULL -> "";
                },
                "Penalty",
                columns,
                rows);
    }

    private static Spread spread(List<Trained> trained, ToDoubleFunction<RunResult> figure) {
        return trained.isEmpty()
                ? Quote.NONE
                : Spread.of(trained.stream()
                        .map(one -> figure.applyAsDouble(one.result()))
                        .toList());
    }

    /** Score against group sparsity. */
    private Plot price(SequencedMap<PaperRow, List<Trained>> found) {
        List<Point> ours = new ArrayList<>();
        List<Point> paper = new ArrayList<>();
        found.forEach((row, trained) -> {
            addFinite(
                    ours,
                    spread(trained, PaperRow.Figure.GROUP_SPARSITY::of),
                    spread(trained, result -> mainFigure().of(result)));
            addFinite(paper, row.quote(PaperRow.Figure.GROUP_SPARSITY), row.quote(mainFigure()));
        });
        return new Plot(
                "Score against group sparsity",
                "A point for each row of the table; fewer groups are left on the left.",
                Axis.share("group sparsity"),
                Axis.share(mainFigure().label()),
                List.of(new Curve("ours", ours), new Curve("the paper's", Stroke.DASHED, paper)));
    }

    private static void addFinite(List<Point> points, Spread x, Spread y) {
        if (Double.isFinite(x.mean()) && Double.isFinite(y.mean())) {
            points.add(new Point(x.mean(), y.mean()));
            points.sort(Comparator.comparingDouble(Point::x));
        }
    }

    private static Plot overEpochs(
            String title, String figure, SequencedMap<PaperRow, List<Trained>> found, ToDoubleFunction<Metrics> measure)
            throws IOException {
        List<Curve> curves = new ArrayList<>();
        for (Map.Entry<PaperRow, List<Trained>> row : found.entrySet()) {
            if (!row.getValue().isEmpty()) {
                List<Metrics> metrics = row.getValue().getFirst().folder().metrics();
                curves.add(new Curve(
                        row.getKey().name(),
                        metrics.stream()
                                .map(line -> new Point(line.epoch(), measure.applyAsDouble(line)))
                                .toList()));
            }
        }
        return new Plot(title, "Of the first seed.", Axis.linear("epoch"), Axis.share(figure), curves);
    }

    private List<String> notes(Scale scale, SequencedMap<PaperRow, List<Trained>> found) throws IOException {
        List<String> notes = new ArrayList<>();
        notes.add("Group sparsity is the share of groups that are not zero, as in the paper.");
        for (Map.Entry<PaperRow, List<Trained>> row : found.entrySet()) {
            for (Trained trained : row.getValue().stream().limit(1).toList()) {
                if (trained.recipe().method().kind().equals(Method.SUBGRADIENT)) {
                    notes.add(thresholdNote(row.getKey(), trained));
                }
            }
        }
        long missing = found.values().stream().filter(List::isEmpty).count();
        if (missing > 0) {
            notes.add(missing + " rows are empty: their trainings went nowhere and were given up.");
        }
        if (scale == Scale.SMALL) {
            notes.add("Small scale: " + table.smallTitle() + ", few epochs and a larger λ. The recipes as run are in"
                    + " the folders of the trainings.");
        }
        return notes;
    }

    private static String thresholdNote(PaperRow row, Trained trained) throws IOException {
        return String.format(
                Locale.ROOT,
                "%s is trained with subgradients: %s of its groups were not zero before the threshold t = %s was applied.",
                row.name(),
                Unit.SHARE.write(before(trained.folder())),
                trained.recipe().method().threshold());
    }

    private static double before(RunFolder folder) throws IOException {
        return folder.metrics().getLast().groupsLeft();
    }
}
