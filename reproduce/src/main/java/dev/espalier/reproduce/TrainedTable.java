package dev.espalier.reproduce;

import dev.espalier.report.Article;
import dev.espalier.report.Figure.Axis;
import dev.espalier.report.Figure.Curve;
import dev.espalier.report.Figure.Plot;
import dev.espalier.report.Figure.Point;
import dev.espalier.report.Figure.Stroke;
import dev.espalier.report.Unit;
import dev.espalier.train.journal.Spread;
import dev.espalier.train.recipe.Method;
import dev.espalier.train.recipe.Recipe;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;

/**
 * One of the paper's tables of trained models: a training for each row and seed. Rows can be run one by one, on several machines;
 * what is not there yet is said to be so.
 *
 * @param name what it is called on the command line
 * @param place where in the paper it is
 * @param table the table
 */
record TrainedTable(String name, String place, PaperTable table) implements Item {
    private static final String NOT_RUN = "not run";

    /**
     * A line of the table.
     *
     * @param row the row
     * @param name what the line is called
     * @param quoted whether the paper's numbers are of this, and not of what it varies
     * @param runs what its trainings came to, one for each seed that is there
     */
    record Line(PaperRow row, String name, boolean quoted, List<RowResult> runs) {
        private Spread paper(PaperRow.Figure figure) {
            return quoted ? row.quote(figure) : Quote.NONE;
        }

        private String written(PaperRow.Figure figure) {
            return runs.isEmpty() ? NOT_RUN : Unit.SHARE.write(ours(figure::of));
        }

        private Spread ours(ToDoubleFunction<RowResult> figure) {
            List<Double> known = runs.stream()
                    .map(figure::applyAsDouble)
                    .filter(Double::isFinite)
                    .toList();
            return known.isEmpty() ? Quote.NONE : Spread.of(known);
        }
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
    public List<String> rows() {
        return table.allRows().stream().map(PaperRow::shortName).toList();
    }

    @Override
    public void require(Setting setting) {
        Trainings.require(table, setting);
    }

    @Override
    public Optional<Findings> run(Setting setting) throws IOException {
        Trainings trainings = new Trainings(setting);
        SequencedMap<PaperRow, Recipe> wanted = new LinkedHashMap<>();
        for (PaperRow row : table.allRows()) {
            // What the program does is run where it is asked for by name.
            if (row.isProgram() ? setting.rows().contains(row.shortName()) : setting.wants(row.shortName())) {
                wanted.put(row, trainings.recipe(table, row));
            }
        }
        SequencedMap<String, Recipe> byFolder = new LinkedHashMap<>();
        for (Map.Entry<PaperRow, Recipe> row : wanted.entrySet()) {
            String folder = trainings
                    .variant(row.getKey(), row.getValue())
                    .folder(row.getKey().recipe());
            byFolder.put(folder, row.getValue());
        }
        if (trainings.run(byFolder).isEmpty()) {
            return Optional.empty();
        }
        List<Line> lines = new ArrayList<>();
        for (PaperRow row : table.allRows()) {
            Line line = line(trainings, row);
            if (!row.isProgram() || wanted.containsKey(row) || !line.runs().isEmpty()) {
                lines.add(line);
            }
        }
        String changes = wanted.isEmpty()
                ? ""
                : trainings
                        .variant(
                                wanted.firstEntry().getKey(),
                                wanted.firstEntry().getValue())
                        .toString();
        return Optional.of(findings(setting.scale(), changes, lines));
    }

    /** What is there of a row, whether or not it was to be run now. */
    private Line line(Trainings trainings, PaperRow row) throws IOException {
        Recipe recipe;
        try {
            recipe = trainings.recipe(table, row);
        } catch (IllegalArgumentException _) {
            return new Line(row, row.name() + ": not run", true, List.of()); // the changes are for rows of another kind
        }
        List<RowResult> runs = trainings.results(row, recipe);
        String missing = trainings.isGivenUp(row, recipe) ? ": given up" : ": not run";
        return new Line(row, runs.isEmpty() ? row.name() + missing : row.name(), true, runs);
    }

    /** The lines of results that were kept: all rows, and after each its variants. */
    List<Line> lines(Function<PaperRow, List<RowResult>> kept) {
        List<Line> lines = new ArrayList<>();
        for (PaperRow row : table.allRows()) {
            for (Line line : lines(row, kept.apply(row))) {
                if (!row.isProgram() || !line.runs().isEmpty()) {
                    lines.add(line);
                }
            }
        }
        return lines;
    }

    /** The line of a row, even if nothing is kept of it, and those of its variants. */
    private static List<Line> lines(PaperRow row, List<RowResult> kept) {
        SequencedMap<Variant, List<RowResult>> byVariant = new LinkedHashMap<>();
        byVariant.put(new Variant(new LinkedHashMap<>()), new ArrayList<>());
        for (RowResult result : kept) {
            byVariant
                    .computeIfAbsent(new Variant(result.variant()), _ -> new ArrayList<>())
                    .add(result);
        }
        List<Line> lines = new ArrayList<>();
        byVariant.forEach((variant, runs) -> lines.add(new Line(
                row,
                row.name() + (variant.isNone() ? runs.isEmpty() ? ": " + NOT_RUN : "" : ", " + variant),
                variant.isNone(),
                runs)));
        return lines;
    }

    /**
     * Each row of the paper next to ours as the paper's text says and ours as its program does.
     *
     * @param kept what is kept of a row
     * @return the table; empty if nothing is known of the program's way
     */
    Optional<Article.Grid> threeWays(Function<PaperRow, List<RowResult>> kept) {
        List<List<String>> rows = new ArrayList<>();
        for (PaperRow row : table.rows()) {
            Line text = lines(row, kept.apply(row)).getFirst();
            for (PaperRow program : row.programRows()) {
                for (Line line : lines(program, kept.apply(program))) {
                    List<String> cells = new ArrayList<>(
                            List.of(line.quoted() ? program.name().replace(", as the program does", "") : line.name()));
                    for (PaperRow.Figure figure : table.figures()) {
                        cells.add(Unit.SHARE.write(row.quote(figure)));
                        cells.add(text.written(figure));
                        cells.add(line.written(figure));
                    }
                    rows.add(cells);
                }
            }
        }
        List<String> head = new ArrayList<>(List.of("Penalty"));
        for (PaperRow.Figure figure : table.figures()) {
            head.add(figure.label() + ", paper");
            head.add("as the text says");
            head.add("as the program does");
        }
        return rows.isEmpty()
                ? Optional.empty()
                : Optional.of(new Article.Grid(
                        "Three ways side by side",
                        "the paper, ours as its text says, and ours as its program seems to do it (`recipes/program`).",
                        head,
                        rows));
    }

    /**
     * What is made of the trainings.
     *
     * @param scale at which they were done
     * @param changes what all of them have otherwise than the rows; may be empty
     * @param lines the lines of the table
     */
    Findings findings(Scale scale, String changes, List<Line> lines) throws IOException {
        return new Findings(
                lines.stream()
                        .flatMap(line -> line.runs().stream())
                        .map(run -> run.provenance().kernel())
                        .findFirst()
                        .orElse("nothing"),
                List.of(comparison(scale, changes, lines)),
                List.of(
                        price(lines),
                        overEpochs("Group sparsity in training", "group sparsity", lines, RowResult.Course::groupsLeft),
                        overEpochs(
                                "Score in training",
                                mainFigure().label(),
                                lines,
                                course -> course.scores().firstEntry().getValue())),
                notes(scale, lines));
    }

    /** What the models are for. */
    private PaperRow.Figure mainFigure() {
        return table.figures().getLast();
    }

    private Comparison comparison(Scale scale, String changes, List<Line> lines) {
        List<Comparison.Column> columns = new ArrayList<>(List.of(new Comparison.Column("runs", Unit.COUNT)));
        table.figures().forEach(figure -> columns.add(new Comparison.Column(figure.label(), Unit.SHARE)));
        columns.addAll(List.of(
                new Comparison.Column("parameters left", Unit.SHARE),
                new Comparison.Column("FLOPs left", Unit.SHARE),
                new Comparison.Column("times faster", Unit.NUMBER),
                new Comparison.Column("seconds per epoch", Unit.NUMBER)));
        List<Comparison.Row> rows = new ArrayList<>();
        for (Line line : lines) {
            List<Comparison.Cell> cells =
                    new ArrayList<>(List.of(Comparison.Cell.ours(line.runs().size())));
            for (PaperRow.Figure figure : table.figures()) {
                cells.add(new Comparison.Cell(line.paper(figure), line.ours(figure::of)));
            }
            cells.add(Comparison.Cell.ours(line.ours(run -> run.parameters().left())));
            cells.add(Comparison.Cell.ours(line.ours(run -> run.flops().left())));
            cells.add(Comparison.Cell.ours(line.ours(RowResult::speedUp)));
            cells.add(Comparison.Cell.ours(line.ours(RowResult::secondsPerEpoch)));
            rows.add(new Comparison.Row(line.name(), cells));
        }
        String small = switch (scale) {
            case SMALL -> "At small scale ours is " + table.smallTitle() + ": not to be compared with the paper.";
            case FULL -> "";
        };
        String varied = changes.isEmpty() ? "" : "Ours is a variant of the rows: " + changes + ".";
        return new Comparison(table.title(), (small + " " + varied).strip(), "Penalty", columns, rows);
    }

    /** Score against group sparsity. */
    private Plot price(List<Line> lines) {
        List<Point> ours = new ArrayList<>();
        List<Point> program = new ArrayList<>();
        List<Point> paper = new ArrayList<>();
        for (Line line : lines) {
            if (line.quoted()) {
                addFinite(
                        line.row().isProgram() ? program : ours,
                        line.ours(PaperRow.Figure.GROUP_SPARSITY::of),
                        line.ours(mainFigure()::of));
            }
            if (line.quoted() && !line.row().isProgram()) {
                addFinite(paper, line.paper(PaperRow.Figure.GROUP_SPARSITY), line.paper(mainFigure()));
            }
        }
        return new Plot(
                "Score against group sparsity",
                "A point for each row of the table; fewer groups are left on the left.",
                Axis.share("group sparsity"),
                Axis.share(mainFigure().label()),
                program.isEmpty()
                        ? List.of(new Curve("ours", ours), new Curve("the paper's", Stroke.DASHED, paper))
                        : List.of(
                                new Curve("ours", ours),
                                new Curve("ours, as the program does", program),
                                new Curve("the paper's", Stroke.DASHED, paper)));
    }

    private static void addFinite(List<Point> points, Spread x, Spread y) {
        if (Double.isFinite(x.mean()) && Double.isFinite(y.mean())) {
            points.add(new Point(x.mean(), y.mean()));
            points.sort(Comparator.comparingDouble(Point::x));
        }
    }

    private static Plot overEpochs(
            String title, String figure, List<Line> lines, Function<RowResult.Course, List<Double>> measure) {
        List<Curve> curves = new ArrayList<>();
        for (Line line : lines) {
            line.runs().stream()
                    .findFirst()
                    .map(RowResult::course)
                    .ifPresent(course ->
                            curves.add(new Curve(line.name(), points(course.epochs(), measure.apply(course)))));
        }
        return new Plot(title, "Of the first seed that is there.", Axis.linear("epoch"), Axis.share(figure), curves);
    }

    private static List<Point> points(List<Double> x, List<Double> y) {
        return IntStream.range(0, x.size())
                .mapToObj(i -> new Point(x.get(i), y.get(i)))
                .toList();
    }

    private List<String> notes(Scale scale, List<Line> lines) throws IOException {
        List<String> notes = new ArrayList<>();
        notes.add("Group sparsity is the share of groups that are not zero, as in the paper.");
        if (table == PaperTable.BERT) {
            notes.add(
                    "The paper has 86k groups of BERT and does not say which: our 83,712 are the rows of all matrices that"
                            + " multiply. With the 3 × 768 dimensions of the embeddings, which are frozen and never zero, there are 86,016;"
                            + " \"embeddings counted\" is the share of those that are not zero, for BERT-base.");
        }
        for (Line line : lines) {
            Recipe protocol = ShippedRecipe.of(line.row().recipe(), List.of());
            if (!line.runs().isEmpty() && protocol.method().kind().equals(Method.SUBGRADIENT)) {
                notes.add(
                        "%s is trained with subgradients: %s of its groups were not zero before the threshold was applied."
                                .formatted(
                                        line.name(),
                                        Unit.SHARE.write(line.runs()
                                                .getFirst()
                                                .course()
                                                .groupsLeft()
                                                .getLast())));
            }
            for (RowResult run : line.runs()) {
                if (!run.judged()) {
                    notes.add("%s, seed %d: the network on the device, not judged by ONNX Runtime."
                            .formatted(line.name(), run.seed()));
                } else if (run.judgedSamples() > 0) {
                    notes.add(
                            "%s, seed %d: ONNX Runtime was asked about the first %d samples, of which the network said the same; the others are scored by the network on the device."
                                    .formatted(line.name(), run.seed(), run.judgedSamples()));
                }
            }
        }
        if (scale == Scale.SMALL) {
            notes.add("Small scale: " + table.smallTitle() + ", few epochs and a larger λ. The recipes as run are in"
                    + " the folders of the trainings.");
        }
        return notes;
    }

    /** Where each run came from. */
    Article.Grid origins(List<Line> lines, Function<RowResult, String> written) {
        List<List<String>> rows = new ArrayList<>();
        for (Line line : lines) {
            for (RowResult run : line.runs()) {
                rows.add(List.of(
                        line.name(),
                        written.apply(run),
                        Unit.SHARE.write(mainFigure().of(run)),
                        run.provenance().kernel(),
                        run.precision(),
                        Unit.COUNT.write(run.seconds()),
                        run.provenance().started().substring(0, "2026-11-16".length()),
                        run.provenance().commit()));
            }
        }
        return new Article.Grid(
                "Where they came from",
                "",
                List.of("Penalty", "seed", mainFigure().label(), "device", "precision", "seconds", "date", "commit"),
                rows);
    }
}
