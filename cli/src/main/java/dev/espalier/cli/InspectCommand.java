package dev.espalier.cli;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.espalier.graph.Cost;
import dev.espalier.graph.Graph;
import dev.espalier.graph.Graph.Input;
import dev.espalier.graph.GraphException;
import dev.espalier.graph.GraphPrinter;
import dev.espalier.graph.group.LayerGroups;
import dev.espalier.graph.group.ModelGroups;
import dev.espalier.graph.prune.SampleInputs;
import dev.espalier.graph.type.Dimension;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code espalier inspect}: what a model is made of, and which groups of it are zero. */
@Command(
        name = "inspect",
        description = {
            "Print a model's layers: shapes, weights, FLOPs, zero groups.",
            "A group is all weights that read one input channel of a layer, unless the model was trained with other groups.",
        })
final class InspectCommand implements Callable<Integer> {
    /** A length that is free in the model gets this one, unless it is the batch, which gets one. */
    private static final long USUAL_LENGTH = 128;

    private static final SampleInputs USUAL = new SampleInputs(1, USUAL_LENGTH, 0);

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it before call()
    private CommandSpec spec;

    @Parameters(
            paramLabel = "MODEL",
            description = "An ONNX file, the folder of a training run, or that of a BERT checkpoint from Hugging Face.")
    @SuppressWarnings("NullAway.Init")
    private Path model;

    @Option(names = "--json", description = "Print JSON instead of a table.")
    private boolean json;

    @Option(names = "--all", description = "List every node, not only those with weights.")
    private boolean all;

    @Option(names = "--graphviz", description = "Print a drawing in Graphviz's language instead: dot -Tsvg shows it.")
    private boolean graphviz;

    @Mixin
    private DimensionOption dimension = new DimensionOption();

    @Mixin
    private CheckpointOption checkpoint = new CheckpointOption();

    /** A line of the report. */
    private record Line(Cost cost, List<LayerGroups> layers, int groups, int zeroGroups) {
        /** Those that other layers have, too. */
        Stream<LayerGroups> shared() {
            return layers.stream().filter(layer -> layer.weights().size() > 1);
        }
    }

    @Override
    public Integer call() throws IOException {
        ModelFile file = checkpoint.read(model);
        PrintWriter out = spec.commandLine().getOut();
        Map<String, Long> lengths = lengths(file.graph());
        Graph graph = withLengths(file.graph(), lengths);
        if (graphviz) {
            out.print(GraphPrinter.graphviz(graph));
        } else if (json) {
            out.println(json(file, graph, lengths).toPrettyString());
        } else {
            print(out, file, graph, lengths);
        }
        out.flush();
        return 0;
    }

    private Map<String, Long> lengths(Graph graph) {
        Map<String, Long> lengths = USUAL.dimensions(graph);
        lengths.putAll(dimension.lengths(lengths.keySet()));
        return lengths;
    }

    /** With numbers if the model accepts them; otherwise costs stay formulas. */
    private Graph withLengths(Graph graph, Map<String, Long> lengths) {
        try {
            return graph.withDimensions(lengths);
        } catch (GraphException tooLong) {
            if (dimension.isGiven()) {
                throw tooLong;
            }
            lengths.values().removeIf(length -> length == USUAL_LENGTH);
            return graph.withDimensions(lengths);
        }
    }

    private static List<Line> lines(Graph graph) {
        // A recurrent layer has two: of its inputs and of its hidden units.
        Map<String, List<LayerGroups>> byNode = ModelGroups.of(graph).layers().stream()
                .collect(Collectors.groupingBy(layer -> layer.nodes().getFirst().name()));
        List<Line> lines = new ArrayList<>();
        for (Cost cost : Cost.of(graph, USUAL_LENGTH)) {
            List<LayerGroups> layers = byNode.getOrDefault(cost.node().name(), List.of());
            lines.add(new Line(
                    cost,
                    layers,
                    layers.stream().mapToInt(own -> own.groups().count()).sum(),
                    layers.stream().mapToInt(own -> own.zeroGroups(graph)).sum()));
        }
        return lines;
    }

    private void print(PrintWriter out, ModelFile file, Graph graph, Map<String, Long> lengths) {
        out.printf("%s%s%n", graph.name(), file.origin().isEmpty() ? "" : ", written by " + file.origin());
        for (Input input : file.graph().inputs()) {
            out.printf("in   %s %s%n", input.name(), input.type());
        }
        for (String output : file.graph().outputs()) {
            out.printf("out  %s %s%n", output, file.graph().fact(output).type());
        }
        file.notes().forEach(out::println);
        out.println();
        List<List<String>> rows = new ArrayList<>();
        rows.add(List.of("layer", "operator", "output", "parameters", "FLOPs", "groups", "zero"));
        List<Line> lines = lines(graph);
        for (Line line : lines) {
            if (all || line.cost().parameters() > 0 || line.groups() > 0) {
                rows.add(List.of(
                        line.cost().node().name(),
                        line.cost().node().operator().label(),
                        graph.shape(line.cost().node().output()).toString(),
                        number(line.cost().parameters()),
                        formula(line.cost().flops()),
                        number(line.groups()),
                        number(line.zeroGroups())));
            }
        }
        rows.add(List.of(
                "total",
                "",
                "",
                number(Cost.parameters(graph)),
                formula(Cost.flops(graph, USUAL_LENGTH)),
                number(groups(lines)),
                number(zeroGroups(lines))));
        out.print(GraphPrinter.columns(rows, 3));
        List<LayerGroups> shared = lines.stream().flatMap(Line::shared).toList();
        if (!shared.isEmpty()) {
            out.printf("%nGroups that weights share are counted with the first of them:%n");
            shared.forEach(layer -> out.printf("  %s%n", layer.name()));
        }
        if (!lengths.isEmpty()) {
            out.printf("%n%s%n", DimensionOption.sentence("FLOPs", lengths));
        }
        if (!Cost.of(graph).equals(Cost.of(graph, USUAL_LENGTH))) {
            out.printf("%nLengths that only a run of the model tells are counted as %d.%n", USUAL_LENGTH);
        }
    }

    private static int groups(List<Line> lines) {
        return lines.stream().mapToInt(Line::groups).sum();
    }

    private static int zeroGroups(List<Line> lines) {
        return lines.stream().mapToInt(Line::zeroGroups).sum();
    }

    private static String number(long value) {
        return value == 0 ? "" : String.format(Locale.ROOT, "%,d", value);
    }

    private static String formula(Dimension flops) {
        return flops.isKnown() ? number(flops.value()) : flops.toString();
    }

    private static ObjectNode json(ModelFile file, Graph graph, Map<String, Long> lengths) {
        List<Line> lines = lines(graph);
        ObjectNode root = JsonNodeFactory.instance
                .objectNode()
                .put("name", graph.name())
                .put("producer", file.origin())
                .put("opset", file.opset())
                .put("parameters", Cost.parameters(graph));
        put(root, Cost.flops(graph, USUAL_LENGTH));
        root.put("groups", groups(lines)).put("zero_groups", zeroGroups(lines));
        ObjectNode assumed = root.putObject("dimensions");
        lengths.forEach(assumed::put);
        ArrayNode inputs = root.putArray("inputs");
        file.graph()
                .inputs()
                .forEach(input -> inputs.addObject()
                        .put("name", input.name())
                        .put("type", input.type().toString()));
        ArrayNode outputs = root.putArray("outputs");
        file.graph()
                .outputs()
                .forEach(output -> outputs.addObject()
                        .put("name", output)
                        .put("type", file.graph().fact(output).type().toString()));
        ArrayNode layers = root.putArray("layers");
        for (Line line : lines) {
            ObjectNode layer = layers.addObject()
                    .put("name", line.cost().node().name())
                    .put("operator", line.cost().node().operator().label())
                    .put("output", graph.shape(line.cost().node().output()).toString())
                    .put("parameters", line.cost().parameters());
            put(layer, line.cost().flops());
            layer.put("groups", line.groups()).put("zero_groups", line.zeroGroups());
            ArrayNode grouped = layer.putArray("grouped_weights");
            line.layers().forEach(own -> own.parameters().forEach(grouped::add));
        }
        return root;
    }

    private static void put(ObjectNode node, Dimension flops) {
        if (flops.isKnown()) {
            node.put("flops", flops.value());
        } else {
            node.put("flops", flops.toString());
        }
    }
}
