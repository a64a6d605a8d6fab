package dev.espalier.graph;

import dev.espalier.graph.Graph.Use;
import dev.espalier.graph.type.Dimension;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** Graphs for people to look at: as a table of text, and as a drawing in Graphviz's language. */
public final class GraphPrinter {
    private GraphPrinter() {}

    /**
     * A table with a line for each node: its name, operator, the shape it makes, its weights and its cost.
     *
     * @param graph the graph
     * @return lines of text
     */
    public static String table(Graph graph) {
        List<List<String>> rows = new ArrayList<>();
        rows.add(List.of("node", "operator", "output", "parameters", "FLOPs"));
        for (Cost cost : Cost.of(graph)) {
            Node node = cost.node();
            rows.add(List.of(
                    node.name(),
                    node.operator().label(),
                    graph.shape(node.output()).toString(),
                    cost.parameters() == 0 ? "" : number(cost.parameters()),
                    cost.flops().is(0) ? "" : formula(cost.flops())));
        }
        rows.add(List.of("total", "", "", number(Cost.parameters(graph)), formula(Cost.flops(graph))));
        return columns(rows, 3);
    }

    /**
     * Rows of cells as aligned columns.
     *
     * @param rows the cells, as many in every row
     * @param left how many columns are aligned to the left; the others hold numbers and are aligned to the right
     * @return lines of text
     */
    public static String columns(List<List<String>> rows, int left) {
        List<Integer> widths =
                new ArrayList<>(Collections.nCopies(rows.getFirst().size(), 0));
        for (List<String> row : rows) {
            for (int column = 0; column < row.size(); column++) {
                widths.set(column, Math.max(widths.get(column), row.get(column).length()));
            }
        }
        StringBuilder text = new StringBuilder();
        for (List<String> row : rows) {
            StringBuilder line = new StringBuilder();
            for (int column = 0; column < row.size(); column++) {
                String padding = " ".repeat(widths.get(column) - row.get(column).length());
                line.append(column == 0 ? "" : "  ")
                        .append(column < left ? row.get(column) + padding : padding + row.get(column));
            }
            text.append(line.toString().stripTrailing()).append('\n');
        }
        return text.toString();
    }

    private static String formula(Dimension flops) {
        return flops.isKnown() ? number(flops.value()) : flops.toString();
    }

    private static String number(long value) {
        return String.format(Locale.ROOT, "%,d", value);
    }

    /**
     * A drawing: {@code dot -Tsvg} makes a picture of it.
     *
     * @param graph the graph
     * @return a directed graph in Graphviz's language
     */
    public static String graphviz(Graph graph) {
        StringBuilder text = new StringBuilder("digraph " + quote(graph.name()) + " {\n");
        text.append("  node [shape=box, style=rounded, fontname=\"sans-serif\"];\n");
        for (Graph.Input input : graph.inputs()) {
            text.append("  ")
                    .append(quote("in:" + input.name()))
                    .append(" [shape=ellipse, label=")
                    .append(quote(input.name() + "\n" + input.type()))
                    .append("];\n");
            edges(graph, input.name(), quote("in:" + input.name()), text);
        }
        for (Node node : graph.nodes()) {
            String weights = node.inputs().stream()
                    .filter(graph.initializers()::containsKey)
                    .map(name -> "\n" + name + " " + graph.shape(name))
                    .collect(Collectors.joining());
            text.append("  ")
                    .append(quote(node.name()))
                    .append(" [label=")
                    .append(quote(node.operator().label() + "\n" + node.name() + weights))
                    .append("];\n");
            for (String output : node.outputs()) {
                edges(graph, output, quote(node.name()), text);
            }
        }
        for (String output : graph.outputs()) {
            text.append("  ").append(quote("out:" + output)).append(" [shape=ellipse, label=");
            text.append(quote(output)).append("];\n");
        }
        return text.append("}\n").toString();
    }

    private static void edges(Graph graph, String tensor, String from, StringBuilder text) {
        String label = " [label=" + quote(graph.shape(tensor).toString()) + "];\n";
        for (Use use : graph.uses(tensor)) {
            text.append("  ")
                    .append(from)
                    .append(" -> ")
                    .append(quote(use.node().name()))
                    .append(label);
        }
        if (graph.isOutput(tensor)) {
            text.append("  ")
                    .append(from)
                    .append(" -> ")
                    .append(quote("out:" + tensor))
                    .append(label);
        }
    }

    private static String quote(String text) {
        return '"' + text.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n") + '"';
    }
}
