package dev.espalier.reproduce;

import dev.espalier.graph.Graph;
import dev.espalier.graph.prune.LayerPlan;
import dev.espalier.graph.prune.PruneOptions;
import dev.espalier.graph.prune.PruneReport;
import dev.espalier.graph.prune.Pruner;
import dev.espalier.graph.prune.SampleInputs;
import dev.espalier.report.Figure;
import dev.espalier.report.Unit;
import dev.espalier.train.journal.Spread;
import dev.espalier.train.recipe.Recipe;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;

/**
 * What pruning leaves of each layer of the models that the paper draws: the first seed of three rows of its tables.
 */
final class PrunedLayers implements Item {

    /** The models that the paper draws, and what it says of them. */
    private static final List<Model> MODELS = List.of(
            new Model("VGG-16, ℓ1/ℓ2 + prox.", PaperTable.VGG16, "vgg16-cifar10-lasso-proximal", 3, Quote.NONE, 1000),
            new Model("BERT, group MCP", PaperTable.BERT, "bert-squad-mcp-1e-4", 48, Quote.NONE, Double.NaN),
            new Model(
                    "ResNet-34, group MCP",
                    PaperTable.RESNET34,
                    "resnet34-cifar10-mcp",
                    4,
                    Quote.number(919_000),
                    Double.NaN),
            // The same two as the paper's program does them.
            new Model(
                    "BERT, group MCP, as the program does",
                    PaperTable.BERT,
                    "program/bert-squad-mcp-1e-4",
                    48,
                    Quote.NONE,
                    Double.NaN),
            new Model(
                    "ResNet-34, group MCP, as the program does",
                    PaperTable.RESNET34,
                    "program/resnet34-cifar10-mcp",
                    4,
                    Quote.number(919_000),
                    Double.NaN),
            // Small networks, for which λ is adapted until as many groups are left as in the paper.
            new Model(
                    "A small BERT at the paper's group sparsity",
                    PaperTable.BERT,
                    "bert-squad-mcp-1e-4",
                    48,
                    Quote.NONE,
                    Double.NaN,
                    List.of(
                            "target.kind=groups",
                            "target.share=0.6133",
                            "target.reached_after=0.9",
                            "training.epochs=16")),
            new Model(
                    "A thin ResNet-34 at the paper's group sparsity",
                    PaperTable.RESNET34,
                    "resnet34-cifar10-mcp",
                    4,
                    Quote.NONE,
                    Double.NaN,
                    List.of(
                            "target.kind=groups",
                            "target.share=0.3104",
                            "target.reached_after=0.9",
                            "training.epochs=16")));

    /**
     * A model.
     *
     * @param name what it is called
     * @param table the table that it is from
     * @param recipe the recipe of its row
     * @param effectiveSparsity percentage of parameters that are left in the paper
     * @param parameters number of parameters that are left in the paper
     * @param reduction how many times smaller the layer became that shrank most, in the paper: for VGG-16 "3 orders of
     *     magnitude"
     * @param target what leads a small network to the paper's group sparsity, at any scale; empty for the row itself
     */
    private record Model(
            String name,
            PaperTable table,
            String recipe,
            double effectiveSparsity,
            Spread parameters,
            double reduction,
            List<String> target) {

        Model(
                String name,
                PaperTable table,
                String recipe,
                double effectiveSparsity,
                Spread parameters,
                double reduction) {
            this(name, table, recipe, effectiveSparsity, parameters, reduction, List.of());
        }

        PaperRow row() {
            return table.row(recipe);
        }

        boolean isTargeted() {
            return !target.isEmpty();
        }

        /** What it is called on the command line: the first word of the recipe's name. */
        String shortName() {
            String first = recipe.split("-", 2)[0].replace('/', '-');
            return isTargeted() ? "small-" + first : first;
        }

        /** Whether it is done where no rows are named: those that the paper draws are. */
        boolean isPapers() {
            return !isTargeted() && !row().isProgram();
        }

        /** The setting that it is trained in: a small network is one at any scale. */
        Setting within(Setting setting) {
            if (!isTargeted()) {
                return setting;
            }
            List<String> changes = new ArrayList<>(target);
            changes.addAll(setting.changes());
            return new Setting(
                    Scale.SMALL,
                    setting.data(),
                    setting.seeds(),
                    setting.rows(),
                    changes,
                    setting.folder(),
                    setting.run(),
                    setting.launching());
        }
    }

    @Override
    public String name() {
        return "pruned-layers";
    }

    @Override
    public String title() {
        return "Size of every layer before and after pruning";
    }

    @Override
    public String place() {
        return "Figures 2 and 6";
    }

    @Override
    public boolean trains() {
        return true;
    }

    @Override
    public List<String> rows() {
        return MODELS.stream().map(Model::shortName).toList();
    }

    private static List<Model> wanted(Setting setting) {
        return MODELS.stream()
                .filter(model -> setting.rows().isEmpty()
                        ? model.isPapers()
                        : setting.rows().contains(model.shortName()))
                .toList();
    }

    @Override
    public void require(Setting setting) {
        wanted(setting).forEach(model -> Trainings.require(model.table(), model.within(setting)));
    }

    @Override
    public Optional<Findings> run(Setting setting) throws IOException {
        SequencedMap<Model, Recipe> recipes = new LinkedHashMap<>();
        for (Model model : wanted(setting)) {
            recipes.put(model, new Trainings(model.within(setting)).recipe(model.table(), model.row()));
        }
        SequencedMap<Model, PruneReport> reports = new LinkedHashMap<>();
        List<Trained> all = new ArrayList<>();
        for (Map.Entry<Model, Recipe> entry : recipes.entrySet()) {
            Model model = entry.getKey();
            Trainings trainings = new Trainings(model.within(setting));
            String folder = trainings.variant(model.row(), entry.getValue()).folder(model.recipe());
            Optional<List<Trained>> trained = trainings.run(folder, entry.getValue());
            if (trained.isEmpty()) {
                return Optional.empty();
            }
            for (Trained first : trained.get().stream().limit(1).toList()) {
                reports.put(model, report(first.model()));
                all.add(first);
            }
        }
        List<Comparison> tables = new ArrayList<>(List.of(summary(reports)));
        List<Figure> figures = new ArrayList<>();
        reports.forEach((model, report) -> {
            tables.add(layers(model, report));
            figures.add(sizes(model, report));
        });
        return Optional.of(new Findings(Trainings.computedBy(all), tables, figures, notes(setting)));
    }

    private static PruneReport report(Graph model) {
        return PruneReport.of(Pruner.plan(model, PruneOptions.DEFAULT), SampleInputs.DEFAULT.dimensions(model));
    }

    private static Comparison summary(SequencedMap<Model, PruneReport> reports) {
        List<Comparison.Row> rows = new ArrayList<>();
        reports.forEach((model, report) -> rows.add(Comparison.Row.of(
                model.name(),
                new Comparison.Cell(
                        model.row().quote(PaperRow.Figure.GROUP_SPARSITY), Quote.number(report.groupsNotZero())),
                new Comparison.Cell(Quote.percent(model.effectiveSparsity()), Quote.number(report.parametersLeft())),
                new Comparison.Cell(model.parameters(), Quote.number((double) report.parametersAfter())),
                Comparison.Cell.ours((double) report.parametersBefore()),
                Comparison.Cell.ours(layersLeft(report)),
                new Comparison.Cell(Quote.number(model.reduction()), Quote.number(largestReduction(report))))));
        return new Comparison(
                "What is left of the models",
                "",
                "Model",
                List.of(
                        new Comparison.Column("group sparsity", Unit.SHARE),
                        new Comparison.Column("effective sparsity", Unit.SHARE),
                        new Comparison.Column("parameters left", Unit.COUNT),
                        new Comparison.Column("parameters before", Unit.COUNT),
                        new Comparison.Column("weights of layers left", Unit.SHARE),
                        new Comparison.Column("largest reduction of a layer", Unit.NUMBER)),
                rows);
    }

    /** Without what belongs to no layer: embeddings, norms, biases. */
    private static double layersLeft(PruneReport report) {
        long before = report.layers().stream()
                .mapToLong(layer -> layer.plan().weightsBefore())
                .sum();
        long after = report.layers().stream()
                .mapToLong(layer -> layer.plan().weightsAfter())
                .sum();
        return (double) after / before;
    }

    /** Of layers that something is left of. */
    private static double largestReduction(PruneReport report) {
        return report.layers().stream()
                .map(PruneReport.Layer::plan)
                .filter(layer -> layer.weightsAfter() > 0)
                .mapToDouble(layer -> (double) layer.weightsBefore() / layer.weightsAfter())
                .max()
                .orElse(Double.NaN);
    }

    private static Comparison layers(Model model, PruneReport report) {
        List<Comparison.Row> rows = new ArrayList<>();
        for (PruneReport.Layer layer : report.layers()) {
            LayerPlan plan = layer.plan();
            rows.add(Comparison.Row.of(
                    plan.name(),
                    Comparison.Cell.ours(plan.inputsBefore()),
                    Comparison.Cell.ours(plan.inputsAfter()),
                    Comparison.Cell.ours(plan.outputsBefore()),
                    Comparison.Cell.ours(plan.outputsAfter()),
                    Comparison.Cell.ours((double) plan.weightsBefore()),
                    Comparison.Cell.ours((double) plan.weightsAfter()),
                    Comparison.Cell.ours((double) plan.weightsAfter() / plan.weightsBefore())));
        }
        return new Comparison(
                model.name(),
                "",
                "Layer",
                List.of(
                        new Comparison.Column("inputs", Unit.COUNT),
                        new Comparison.Column("left", Unit.COUNT),
                        new Comparison.Column("outputs", Unit.COUNT),
                        new Comparison.Column("left", Unit.COUNT),
                        new Comparison.Column("weights", Unit.COUNT),
                        new Comparison.Column("left", Unit.COUNT),
                        new Comparison.Column("share left", Unit.SHARE)),
                rows);
    }

    private static Figure sizes(Model model, PruneReport report) {
        List<LayerPlan> layers =
                report.layers().stream().map(PruneReport.Layer::plan).toList();
        return new Figure.Sizes(
                model.name(),
                "Weights of each layer before and after pruning, on a logarithmic scale.",
                layers.stream().map(LayerPlan::name).toList(),
                layers.stream().map(LayerPlan::weightsBefore).toList(),
                layers.stream().map(LayerPlan::weightsAfter).toList());
    }

    private static List<String> notes(Setting setting) {
        List<String> notes = new ArrayList<>();
        notes.add(
                "Effective sparsity is the share of parameters that are left, embeddings and norms included. The paper"
                        + " gives no sizes of single layers in its text; of VGG-16 it says that some became smaller by 3 orders of"
                        + " magnitude.");
        for (Model model : wanted(setting)) {
            if (model.within(setting).scale() == Scale.SMALL) {
                notes.add("Small scale: instead of " + model.table().title() + ", "
                        + model.table().smallTitle() + ".");
            }
        }
        return notes;
    }
}
