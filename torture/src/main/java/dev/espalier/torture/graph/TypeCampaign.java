package dev.espalier.torture.graph;

import dev.espalier.engine.Device;
import dev.espalier.engine.Network;
import dev.espalier.graph.Graph;
import dev.espalier.graph.GraphBuilder;
import dev.espalier.graph.GraphException;
import dev.espalier.graph.Node;
import dev.espalier.graph.Value;
import dev.espalier.graph.eval.Evaluator;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import dev.espalier.runtime.OnnxRuntimeModel;
import dev.espalier.torture.Campaign;
import dev.espalier.torture.Effort;
import dev.espalier.torture.Figures;
import dev.espalier.torture.graph.TypeTrials.Trial;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/** Single operators on elements of every type: the evaluator, the engine and ONNX Runtime must give the same. */
public final class TypeCampaign implements Campaign {
    /** The types that the engine has arrays of. */
    static final List<DataType> TYPES = List.of(
            DataType.FLOAT32,
            DataType.FLOAT64,
            DataType.FLOAT16,
            DataType.INT8,
            DataType.UINT8,
            DataType.INT32,
            DataType.INT64,
            DataType.BOOL);

    private static final double TOLERANCE = 2e-5;

    /** ONNX Runtime may round to half precision on the way. */
    private static final double HALF_TOLERANCE = 4e-3;

    private static final int MAX_SHOWN = 24;

    private final double share;

    /** Made by the service loader. */
    public TypeCampaign() {
        this(1);
    }

    /**
     * A part of it.
     *
     * @param share the share of the catalogue that each case tries, drawn by chance
     */
    TypeCampaign(double share) {
        this.share = share;
    }

    @Override
    public String name() {
        return "types";
    }

    @Override
    public String description() {
        return "single operators on elements of every type, in the evaluator, the engine and ONNX Runtime";
    }

    @Override
    public Figures run(Effort effort) throws IOException, InterruptedException {
        Device.useThreads(1);
        Figures figures = effort.figures();
        effort.forEach((number, random) -> {
            DataType type = TYPES.get((int) (number % TYPES.size()));
            for (Trial trial : TypeTrials.of(type, random)) {
                if (random.nextDouble() < share) {
                    attempt(trial, type, number, figures);
                }
            }
        });
        return figures;
    }

    private static void attempt(Trial trial, DataType type, long number, Figures figures) {
        String name = type.toString().toLowerCase(Locale.ROOT);
        Map<String, Tensor> feeds = new LinkedHashMap<>();
        Optional<Graph> graph = graph(trial, feeds);
        if (graph.isEmpty()) {
            figures.add(name + ": not admitted", 1);
            return;
        }
        figures.add(name + ": tried", 1);
        problem(graph.get(), feeds, name, figures)
                .ifPresent(problem -> figures.fail("case " + number + ": " + trial.operator() + " of "
                        + trial.inputs().stream().map(TypeCampaign::text).toList() + ": " + problem));
    }

    /** Empty if ONNX does not have the operator for this type. */
    private static Optional<Graph> graph(Trial trial, Map<String, Tensor> feeds) {
        GraphBuilder builder = new GraphBuilder("trial");
        List<String> inputs = new ArrayList<>();
        for (int i = 0; i < trial.inputs().size(); i++) {
            Tensor tensor = trial.inputs().get(i);
            String name = "x" + i;
            inputs.add(name);
            if (trial.constants().contains(i)) {
                builder.constant(name, tensor);
            } else {
                Object[] shape = Arrays.stream(tensor.shape()).boxed().toArray();
                builder.input(name, tensor.type(), shape);
                feeds.put(name, tensor);
            }
        }
        List<String> outputs = new ArrayList<>();
        for (int i = 0; i < trial.outputs(); i++) {
            outputs.add("y" + i);
        }
        try {
            List<Value> made = builder.addAll(new Node("trial", trial.operator(), inputs, outputs));
            return Optional.of(builder.outputs(made.toArray(Value[]::new)));
        } catch (GraphException refused) {
            if (String.valueOf(refused.getMessage()).contains("of type")) {
                return Optional.empty();
            }
            throw refused;
        }
    }

    private static Optional<String> problem(Graph graph, Map<String, Tensor> feeds, String name, Figures figures) {
        Map<String, Tensor> expected;
        try {
            expected = Evaluator.run(graph, feeds);
        } catch (RuntimeException failure) {
            return Optional.of("the evaluator fails: " + failure);
        }
        try (Network network = new Network(graph, Device.CPU)) {
            Optional<String> difference = difference(expected, network.predict(feeds));
            if (difference.isPresent()) {
                return Optional.of("evaluator and engine: " + difference.get());
            }
        } catch (RuntimeException failure) {
            return Optional.of("the engine fails: " + failure);
        }
        try (OnnxRuntimeModel model = OnnxRuntimeModel.of(graph, 1)) {
            Optional<String> difference = difference(expected, model.run(feeds));
            figures.add(name + ": judged by ONNX Runtime", 1);
            return difference.map(found -> "evaluator and ONNX Runtime: " + found);
        } catch (IllegalStateException refused) {
            String reason = String.valueOf(refused.getMessage());
            if (reason.contains("NOT_IMPLEMENTED")) {
                figures.add(name + ": not in ONNX Runtime", 1);
                return Optional.empty();
            }
            return Optional.of("ONNX Runtime refuses what was written: " + reason);
        }
    }

    private static Optional<String> difference(Map<String, Tensor> expected, Map<String, Tensor> found) {
        for (Map.Entry<String, Tensor> output : expected.entrySet()) {
            Tensor other = found.get(output.getKey());
            if (other == null || !isClose(output.getValue(), other)) {
                return Optional.of(text(output.getValue()) + " and " + (other == null ? "nothing" : text(other)));
            }
        }
        return Optional.empty();
    }

    private static boolean isClose(Tensor left, Tensor right) {
        if (!left.tensorType().toString().equals(right.tensorType().toString())) {
            return false;
        }
        double tolerance = left.type() == DataType.FLOAT16 ? HALF_TOLERANCE : TOLERANCE;
        for (long i = 0; i < left.size(); i++) {
            double one = left.getDouble(i);
            double other = right.getDouble(i);
            boolean same = Double.isNaN(one)
                    ? Double.isNaN(other)
                    : one == other
                            || Math.abs(one - other)
                                    <= tolerance * Math.max(1, Math.max(Math.abs(one), Math.abs(other)));
            if (!same || (!left.type().isFloat() && left.getLong(i) != right.getLong(i))) {
                return false;
            }
        }
        return true;
    }

    private static String text(Tensor tensor) {
        StringBuilder text = new StringBuilder().append(tensor).append(" (");
        for (long i = 0; i < Math.min(tensor.size(), MAX_SHOWN); i++) {
            text.append(i == 0 ? "" : " ")
                    .append(tensor.type().isFloat() ? (Object) tensor.getDouble(i) : (Object) tensor.getLong(i));
        }
        return text.append(")").toString();
    }
}
