package dev.espalier.reproduce;

import dev.espalier.graph.Graph;
import dev.espalier.graph.group.LayerGroups;
import dev.espalier.graph.group.ModelGroups;
import dev.espalier.graph.prune.LayerPlan;
import dev.espalier.graph.prune.PruneOptions;
import dev.espalier.graph.prune.PrunePlan;
import dev.espalier.graph.prune.Pruner;
import dev.espalier.graph.type.Tensor;
import dev.espalier.report.Figure;
import dev.espalier.report.Figure.State;
import dev.espalier.report.Unit;
import dev.espalier.reproduce.Comparison.Cell;
import dev.espalier.reproduce.Comparison.Column;
import dev.espalier.reproduce.Comparison.Row;
import dev.espalier.train.recipe.Recipe;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeSet;

/**
 * The paper's Figure 4, drawn from a network that was trained: filters that the penalty set to zero, and those of the layer
 * before that pruning removes because nothing reads them. What is removed is what the pruner's plan removes.
 */
final class IndirectSparsity implements Item {
    private static final String RECIPE = "digits";

    /** Few channels, so that every filter can be seen. */
    private static final List<String> SMALL = List.of(
            "model.channels=[10,10,12]",
            "penalty.lambda=0.02",
            "training.epochs=10",
            "optimizer.rate=4e-3",
            "target.kind=groups",
            "target.share=0.6",
            "phases.heal_epochs=2",
            "divergence.chance_epochs=0");

    @Override
    public String name() {
        return "indirect-sparsity";
    }

    @Override
    public String title() {
        return "Filters that go because of zero groups behind them, in a network of three convolutions on digits";
    }

    @Override
    public String place() {
        return "Figure 4";
    }

    @Override
    public boolean trains() {
        return true;
    }

    @Override
    public Optional<Findings> run(Setting setting) throws IOException {
        List<String> overrides = new ArrayList<>(SMALL);
        overrides.addAll(setting.changes());
        Recipe recipe = ShippedRecipe.of(RECIPE, overrides);
        Variant variant = Variant.of(ShippedRecipe.of(RECIPE, SMALL), recipe);
        Optional<List<Trained>> trained = new Trainings(setting).run(variant.folder(name()), recipe);
        if (trained.isEmpty()) {
            return Optional.empty();
        }
        if (trained.get().isEmpty()) {
            return Optional.of(new Findings("nothing", List.of(), List.of(), List.of("The training was given up.")));
        }
        Graph model = trained.get().getFirst().model();
        PrunePlan plan = Pruner.plan(model, PruneOptions.DEFAULT);
        Graph pruned = plan.apply();
        Map<String, LayerPlan> plans = new HashMap<>();
        plan.layers().forEach(layer -> plans.put(layer.name(), layer));
        List<Row> rows = new ArrayList<>();
        List<Figure.Grid> grids = new ArrayList<>();
        for (LayerGroups layer : ModelGroups.of(model).layers()) {
            String weight = layer.parameters().getFirst();
            String node = weight.substring(0, weight.lastIndexOf('.'));
            Figure.Grid grid = grid(
                    node,
                    Objects.requireNonNull(model.tensor(weight), weight),
                    Objects.requireNonNull(pruned.tensor(weight), weight));
            grids.add(grid);
            rows.add(row(grid, Objects.requireNonNull(plans.get(node), node)));
        }
        return Optional.of(new Findings(
                Trainings.computedBy(trained.get()),
                List.of(new Comparison(
                        "Filters of each layer",
                        "A filter is the weights between one input and one output. Its group is all filters of an input.",
                        "Layer",
                        List.of(
                                new Column("filters", Unit.COUNT),
                                new Column("zero by the penalty", Unit.COUNT),
                                new Column("pruned indirectly", Unit.COUNT),
                                new Column("left", Unit.COUNT),
                                new Column("left, by the plan", Unit.COUNT),
                                new Column("share left", Unit.SHARE)),
                        rows)),
                List.of(new Figure.Cells(
                        "Indirect sparsity",
                        "A column for each input, a row for each output. A zero column on the right takes a row of the layer on"
                                + " its left with it.",
                        grids)),
                List.of(
                        "The paper's drawing is an example, in which the first layer has 50 % of its parameters left while"
                                + " 25 % of them were set to zero by the penalty.")));
    }

    private static Row row(Figure.Grid grid, LayerPlan plan) {
        double filters = (double) grid.count(State.KEPT) + grid.count(State.ZERO) + grid.count(State.INDIRECT);
        return Row.of(
                grid.name(),
                Cell.ours(filters),
                Cell.ours((double) grid.count(State.ZERO)),
                Cell.ours((double) grid.count(State.INDIRECT)),
                Cell.ours((double) grid.count(State.KEPT)),
                Cell.ours((double) plan.inputsAfter() * plan.outputsAfter()),
                Cell.ours(grid.count(State.KEPT) / filters));
    }

    /** What became of the filters of a weight {@code [outputs, inputs, …]}: the pruned one has copies of those that are left. */
    private static Figure.Grid grid(String name, Tensor before, Tensor after) {
        int inputs = Math.toIntExact(before.shape()[1]);
        int outputs = Math.toIntExact(before.shape()[0]);
        Map<List<Double>, int[]> places = new HashMap<>();
        for (int output = 0; output < outputs; output++) {
            for (int input = 0; input < inputs; input++) {
                places.put(filter(before, output, input), new int[] {output, input});
            }
        }
        TreeSet<Integer> outputsLeft = new TreeSet<>();
        TreeSet<Integer> inputsLeft = new TreeSet<>();
        for (int output = 0; output < after.shape()[0]; output++) {
            for (int input = 0; input < after.shape()[1]; input++) {
                List<Double> filter = filter(after, output, input);
                if (!isZero(filter)) {
                    int[] place = Objects.requireNonNull(places.get(filter), "the plan changes filters of " + name);
                    outputsLeft.add(place[0]);
                    inputsLeft.add(place[1]);
                }
            }
        }
        List<List<State>> rows = new ArrayList<>();
        for (int output = 0; output < outputs; output++) {
            State[] row = new State[inputs];
            for (int input = 0; input < inputs; input++) {
                boolean left = outputsLeft.contains(output) && inputsLeft.contains(input);
                row[input] = isZero(filter(before, output, input)) ? State.ZERO : left ? State.KEPT : State.INDIRECT;
            }
            rows.add(Arrays.asList(row));
        }
        return new Figure.Grid(name, rows);
    }

    private static List<Double> filter(Tensor weight, int output, int input) {
        long[] shape = weight.shape();
        int size = Math.toIntExact(weight.size() / shape[0] / shape[1]);
        List<Double> filter = new ArrayList<>(size);
        for (int i = 0; i < size; i++) {
            filter.add(weight.getDouble((output * shape[1] + input) * size + i) + 0.0); // minus zero is zero
        }
        return filter;
    }

    private static boolean isZero(List<Double> filter) {
        return filter.stream().allMatch(weight -> weight == 0);
    }
}
