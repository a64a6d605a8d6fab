package dev.espalier.report;

import dev.espalier.data.ColumnEncoding;
import dev.espalier.data.Encoding;
import dev.espalier.data.Field;
import dev.espalier.graph.Graph;
import dev.espalier.graph.Node;
import dev.espalier.graph.group.GroupRules;
import dev.espalier.graph.group.GroupedWeight;
import dev.espalier.graph.group.LayerGroups;
import dev.espalier.graph.op.Gather;
import dev.espalier.graph.type.Tensor;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * Which columns of a table a pruned model reads: group sparsity in the first layer is a choice of columns.
 *
 * @param columns all that the data has, in its order
 */
record InputColumns(List<Column> columns) {
    static final InputColumns NONE = new InputColumns(List.of());

    /** Of more columns, those that count most are shown. */
    private static final int MOST = 40;

    /**
     * A column of the data. A category or a date is one, however many numbers the model is given for it.
     *
     * @param name what it is called
     * @param norm that of all weights that read it; 0 if none does
     */
    record Column(String name, double norm) {
        boolean survives() {
            return norm > 0;
        }
    }

    /** A column and how many numbers the model is given for it. */
    private record Width(String name, int numbers) {}

    /**
     * Looks at the layers that read the inputs.
     *
     * @param encoding how columns become inputs
     * @param names the model's names for the inputs
     * @param pruned what is left of the model, without the encoding
     * @return the columns; none if the data is no table, or something else than a layer reads it
     */
    static InputColumns of(Encoding encoding, Map<String, String> names, Graph pruned) {
        List<LayerGroups> layers = GroupRules.everything().derive(pruned).layers();
        List<Column> columns = new ArrayList<>();
        for (ColumnEncoding input : encoding.inputs()) {
            List<Width> widths = widths(input);
            String name = names.get(input.to().name());
            if (widths.isEmpty() || name == null) {
                continue;
            }
            int[] places = IntStream.range(
                            0, widths.stream().mapToInt(Width::numbers).sum())
                    .toArray();
            double[] squares = new double[places.length];
            if (!add(pruned, layers, name, places, squares)) {
                return NONE;
            }
            int at = 0;
            for (Width width : widths) {
                double sum = 0;
                for (int end = at + width.numbers(); at < end; at++) {
                    sum += squares[at];
                }
                columns.add(new Column(width.name(), Math.sqrt(sum)));
            }
        }
        return new InputColumns(columns);
    }

    private static List<Width> widths(ColumnEncoding input) {
        if (input instanceof ColumnEncoding.Joined(var _, List<ColumnEncoding> parts)) {
            return parts.stream()
                    .map(part -> new Width(part.from().getFirst().name(), ((Field.Dense) part.to()).size()))
                    .toList();
        }
        // Numbers that have no names but their places.
        return input.to() instanceof Field.Numbers numbers && numbers.shape().size() == 1
                ? IntStream.range(0, numbers.size())
                        .mapToObj(i -> new Width(numbers.name() + "[" + i + "]", 1))
                        .toList()
                : List.of();
    }

    /** Adds the squares of all weights that read a tensor; false if something reads it that has none. */
    private static boolean add(Graph graph, List<LayerGroups> layers, String tensor, int[] places, double[] squares) {
        for (Graph.Use use : graph.uses(tensor)) {
            Node node = use.node();
            if (node.operator() instanceof Gather gather && gather.axis() == 1 && use.input() == 0) {
                Tensor chosen = graph.tensor(node.input(1));
                if (chosen == null || !add(graph, layers, node.output(), chosen(places, chosen), squares)) {
                    return false;
                }
            } else if (!add(graph, layers, node, places, squares)) {
                return false;
            }
        }
        return true;
    }

    private static int[] chosen(int[] places, Tensor indices) {
        return IntStream.range(0, Math.toIntExact(indices.size()))
                .map(i -> places[Math.floorMod((int) indices.getLong(i), places.length)])
                .toArray();
    }

    private static boolean add(Graph graph, List<LayerGroups> layers, Node node, int[] places, double[] squares) {
        Optional<GroupedWeight> weight = layers.stream()
                .flatMap(layer -> layer.weights().stream())
                .filter(one -> one.nodes().contains(node))
                .findFirst();
        if (weight.isEmpty()) {
            return false;
        }
        KernelNorms norms = KernelNorms.of(
                Objects.requireNonNull(graph.tensor(weight.get().parameter())),
                weight.get().axis());
        if (norms.columns() != places.length) {
            return false;
        }
        for (int i = 0; i < norms.norms().length; i++) {
            double norm = norms.norms()[i];
            squares[places[i % norms.columns()]] += norm * norm;
        }
        return true;
    }

    long surviving() {
        return columns.stream().filter(Column::survives).count();
    }

    /** The names of those that the model does not read. */
    List<String> dropped() {
        return columns.stream()
                .filter(column -> !column.survives())
                .map(Column::name)
                .toList();
    }

    /** Names, from the one that counts most to the one that counts least. */
    List<String> ranked() {
        return sorted().stream().map(Column::name).toList();
    }

    private List<Column> sorted() {
        return columns.stream()
                .sorted(Comparator.comparingDouble(Column::norm).reversed())
                .toList();
    }

    Html toHtml() {
        if (columns.isEmpty()) {
            return Html.EMPTY;
        }
        double largest = columns.stream().mapToDouble(Column::norm).max().orElseThrow();
        Table table = Table.of("Columns of the data", List.of("Column", "Norm", "Weights that read it:"));
        for (Column column : sorted().subList(0, Math.min(MOST, columns.size()))) {
            table.row(
                    column.name(),
                    column.survives() ? Numbers.compact(column.norm()) : "0",
                    column.survives()
                            ? Html.of(
                                    "<span class=\"bar\" style=\"width: {}%\"></span>",
                                    Numbers.compact(100 * column.norm() / largest))
                            : Html.of("<span class=\"gone\">none: it may be left out</span>"));
        }
        Html rest = columns.size() <= MOST
                ? Html.EMPTY
                : Html.of("<p class=\"hint\">{} more columns count less.</p>", Numbers.count(columns.size() - MOST));
        return Html.join(List.of(
                Html.of(
                        "<p>The pruned model reads {} of {} columns: group sparsity in the first layer is a choice of columns. The longer"
                                + " the bar, the larger the norm of the weights that read the column, as it is after normalisation. A"
                                + " category is one column, and so is a date or a number with the indicator that it is missing.</p>",
                        Numbers.count(surviving()),
                        Numbers.count(columns.size())),
                table.toHtml(),
                rest));
    }
}
