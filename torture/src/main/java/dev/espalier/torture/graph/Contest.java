package dev.espalier.torture.graph;

import dev.espalier.core.penalty.GroupLasso;
import dev.espalier.core.rule.UpdateRule;
import dev.espalier.core.schedule.LearningRate;
import dev.espalier.core.step.Optimizer;
import dev.espalier.core.step.StepOptions;
import dev.espalier.core.tensor.TensorView;
import dev.espalier.engine.Device;
import dev.espalier.engine.Network;
import dev.espalier.engine.TrainingStep;
import dev.espalier.graph.Graph;
import dev.espalier.graph.GraphException;
import dev.espalier.graph.Initializer.Kind;
import dev.espalier.graph.Value;
import dev.espalier.graph.eval.Evaluator;
import dev.espalier.graph.group.ModelGroups;
import dev.espalier.graph.group.TrainingPlan;
import dev.espalier.graph.objective.Objective;
import dev.espalier.graph.onnx.OnnxReader;
import dev.espalier.graph.onnx.OnnxWriter;
import dev.espalier.graph.op.BatchNorm;
import dev.espalier.graph.op.Elementwise.Dropout;
import dev.espalier.graph.op.ScatterElements;
import dev.espalier.graph.prune.Equivalence;
import dev.espalier.graph.prune.PruneOptions;
import dev.espalier.graph.prune.Pruner;
import dev.espalier.graph.prune.SampleInputs;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import dev.espalier.runtime.Judge;
import dev.espalier.runtime.OnnxRuntimeModel;
import dev.espalier.runtime.OptimizerException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.TreeMap;

/**
 * A model against ONNX Runtime, which has it from a file that we wrote. Everything else computes the same within
 * {@link Equivalence#TOLERANCE}, relative to how far outputs move, or it is a disagreement.
 */
final class Contest implements AutoCloseable {
    /** Who computes, or what is done before ONNX Runtime does. */
    enum Party {
        /** The naive evaluator, on the model that was written. */
        EVALUATOR,
        /** libtorch, on the model that was read back. */
        ENGINE,
        /** One step of training: the loss is that of the outputs, and what comes out of it is finite. */
        TRAINING,
        /** The model pruned and written again. */
        PRUNER
    }

    /** What a party may answer beside agreement and disagreement. */
    static final class Refused extends RuntimeException {
        private static final long serialVersionUID = 1;

        Refused(String why) {
            super(why);
        }
    }

    /** Few samples and short sequences. */
    private static final SampleInputs SAMPLES = new SampleInputs(2, 4, 1);

    /** The loss is summed up in single precision. */
    private static final double LOSS_TOLERANCE = 1e-4;

    /** How often all last digits are changed. */
    private static final int WOBBLES = 6;

    /** The mean square of all outputs that are fractions. */
    private static final Objective SQUARES = formula -> {
        Value sum = formula.number(0);
        for (String output : formula.outputs()) {
            sum = formula.plus(sum, formula.mean(formula.square(formula.model(output))));
        }
        return Objective.terms(sum);
    };

    private final Graph graph;
    private final Graph read;
    private final Judge judge;

    /**
     * Writes a model, reads it back and has ONNX Runtime load it.
     *
     * @param graph the model
     * @param file where it is written
     * @throws IllegalStateException if ONNX Runtime refuses it
     */
    Contest(Graph graph, Path file) throws IOException {
        this.graph = graph;
        OnnxWriter.write(graph, file);
        read = OnnxReader.read(file).graph();
        judge = Judge.of(file, read, SAMPLES, 1);
    }

    /** {@return what a party and ONNX Runtime disagree in; empty if nothing} */
    Optional<String> problem(Party party) {
        return switch (party) {
            case EVALUATOR -> evaluator();
            case ENGINE -> engine();
            case TRAINING -> training();
            case PRUNER -> pruner();
        };
    }

    private Optional<String> compare(Equivalence.Model model) {
        return judge.compare(model).problem(Equivalence.tolerance(graph));
    }

    private Optional<String> evaluator() {
        requireKnown();
        return compare(fed -> Evaluator.run(graph, fed));
    }

    private void requireKnown() {
        if (!graph.foreign().isEmpty()) {
            throw new Refused("kept as it is");
        }
    }

    /** What the engine does not do, and says so. */
    private void requireTrainable() {
        requireKnown();
        for (var node : read.nodes()) {
            if (node.operator() instanceof ScatterElements scatter
                    && scatter.reduction() != ScatterElements.Reduction.NONE) {
                throw new Refused("a scatter that reduces");
            }
        }
    }

    private Optional<String> engine() {
        requireTrainable();
        try (Network network = new Network(read, Device.CPU)) {
            return compare(network::predict);
        }
    }

    private Optional<String> training() {
        requireTrainable();
        if (read.tensors(Kind.PARAMETER).isEmpty()) {
            throw new Refused("nothing to train");
        }
        if (!read.outputs().stream().allMatch(output -> read.fact(output).data() == DataType.FLOAT32)) {
            throw new Refused("an output that is no fraction");
        }
        Map<String, Tensor> inputs = judge.inputs().getFirst();
        try (Network network = new Network(read, SQUARES, Device.CPU)) {
            Map<String, Tensor> outputs = network.predict(inputs);
            double wanted =
                    outputs.values().stream().mapToDouble(Contest::meanSquare).sum();
            double judged = network.terms(inputs, Map.of()).loss();
            if (!Double.isFinite(wanted)) {
                throw new Refused("outputs that are not finite");
            }
            if (differ(wanted, judged)) {
                return Optional.of("the loss is " + judged + ", but the outputs say " + wanted);
            }
            return step(network, inputs, wanted);
        }
    }

    private Optional<String> step(Network network, Map<String, Tensor> inputs, double wanted) {
        TrainingPlan plan = TrainingPlan.of(new GroupLasso(1e-3), LearningRate.constant(1e-3));
        boolean chance = read.nodes().stream()
                .anyMatch(node -> node.operator() instanceof BatchNorm
                        || (node.operator() instanceof Dropout dropout && dropout.ratio() > 0));
        try (Optimizer optimizer = new Optimizer(
                new UpdateRule.Adam(0.9, 0.999, 1e-8),
                plan.parameterSets(read, ModelGroups.of(read)),
                StepOptions.DEFAULT.withThreads(1))) {
            double loss = loss(network, inputs);
            // Norms of a batch and elements that are dropped are other outputs.
            if (!chance && differ(wanted, loss)) {
                return Optional.of("the loss in training is " + loss + ", but the outputs say " + wanted);
            }
            Optional<String> strange = infinite("gradient", network.gradients());
            if (strange.isPresent()) {
                return strange;
            }
            new TrainingStep(network, optimizer::step).apply();
            return infinite("weight", network.weights());
        }
    }

    private static double loss(Network network, Map<String, Tensor> inputs) {
        try {
            return network.addGradients(inputs, Map.of(), 1).loss();
        } catch (GraphException | IllegalStateException refused) {
            String why = String.valueOf(refused.getMessage());
            if (why.contains("there is nothing to train")) {
                throw new Refused("no weight has a part in the loss");
            }
            if (why.contains("Expected more than 1 value per channel")) {
                throw new Refused("a batch norm of one number");
            }
            throw refused;
        }
    }

    private static Optional<String> infinite(String what, Map<String, TensorView> tensors) {
        for (Map.Entry<String, TensorView> tensor : tensors.entrySet()) {
            for (long i = 0; i < tensor.getValue().size(); i++) {
                double number = tensor.getValue().get(i);
                if (!Double.isFinite(number)) {
                    return Optional.of("a " + what + " of " + tensor.getKey() + " is " + number);
                }
            }
        }
        return Optional.empty();
    }

    static boolean differ(double wanted, double found) {
        // Numbers below the smallest normal one have fewer digits.
        return !(Math.abs(wanted - found) <= LOSS_TOLERANCE * Math.max(Math.abs(wanted), Float.MIN_NORMAL));
    }

    private static double meanSquare(Tensor tensor) {
        double norm = tensor.rootMeanSquare();
        return norm * norm;
    }

    private Optional<String> pruner() {
        Graph pruned = pruned(read);
        Optional<String> different = compared(pruned);
        return different.isPresent() || pruned(pruned) == pruned
                ? different
                : Optional.of("what is pruned can be pruned again");
    }

    private Optional<String> compared(Graph pruned) {
        try (OnnxRuntimeModel smaller = judge.load(pruned, true)) {
            return judge.compare(smaller).problem(Equivalence.tolerance(graph));
        } catch (OptimizerException refused) {
            // As where it joins a pad that nobody else reads any more with the pool behind it.
            throw new Refused("a model that ONNX Runtime breaks when it optimizes it");
        }
    }

    /** {@return a model without what it does not need} */
    static Graph pruned(Graph graph) {
        try {
            return Pruner.plan(graph, PruneOptions.DEFAULT).apply();
        } catch (GraphException refused) {
            if (String.valueOf(refused.getMessage()).contains("carries only constants")) {
                throw new Refused("an output that is constant");
            }
            throw refused;
        }
    }

    /** {@return the inputs that models are compared on} */
    List<Map<String, Tensor>> inputs() {
        return judge.inputs();
    }

    /**
     * Whether last digits of inputs and weights decide what comes out, as where numbers are rounded or compared: then who differs
     * from ONNX Runtime may be as right as it is.
     */
    boolean isOnCliff() {
        SplittableRandom random = new SplittableRandom(1);
        for (int i = 0; i < WOBBLES; i++) {
            LastDigits digits = new LastDigits(random);
            Graph moving = digits.moved(graph);
            try (OnnxRuntimeModel other = OnnxRuntimeModel.of(moving, 1)) {
                Equivalence.Model model = fed -> {
                    Map<String, Tensor> moved = new TreeMap<>();
                    fed.forEach((name, tensor) -> moved.put(name, digits.moved(tensor)));
                    return other.run(moved);
                };
                if (compare(model).isPresent()) {
                    return true;
                }
            }
        }
        return false;
    }

    /** The model up to one tensor after the other: the first that is disagreed on tells most. */
    static List<Graph> beginnings(Graph graph) {
        List<Graph> beginnings = new ArrayList<>();
        graph.nodes()
                .forEach(node -> node.outputs().forEach(output -> {
                    if (graph.fact(output).data() == DataType.FLOAT32) {
                        beginnings.add(dev.espalier.graph.pass.DeadNodes.remove(new Graph(
                                graph.name(), graph.inputs(), graph.initializers(), graph.nodes(), List.of(output))));
                    }
                }));
        return beginnings;
    }

    @Override
    public void close() {
        judge.close();
    }
}
