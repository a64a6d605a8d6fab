package dev.espalier.engine;

import ai.djl.pytorch.engine.PtNDArray;
import ai.djl.pytorch.engine.PtNDManager;
import dev.espalier.graph.Graph;
import dev.espalier.graph.Initializer;
import dev.espalier.graph.pass.Specialization;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import dev.espalier.torch.Torch;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A graph on the arrays of a network, with a plan for each of the shapes that its inputs lately had. */
final class Program {
    /** Maximum number of input shapes that plans are kept for; the least recently used one is evicted first. */
    static final int MAX_PLANS = 32;

    /** The system property that, if false, has attention computed node by node. */
    private static final boolean FUSED = Boolean.parseBoolean(System.getProperty("espalier.attention", "true"));

    private final Graph graph;
    private final PtNDManager manager;
    private final Function<String, @Nullable PtNDArray> owned;
    private final SharedConstants constants;
    /** Also the lock that it is used under. */
    private final RecentlyUsed<List<List<Long>>, Plan> plans = new RecentlyUsed<>(MAX_PLANS, Plan::release);

    /**
     * A program.
     *
     * @param graph what is computed
     * @param manager will own what only plans have
     * @param owned the arrays of what training changes, by the names of initializers; null for one that is a constant
     * @param constants the arrays of constants
     */
    Program(Graph graph, PtNDManager manager, Function<String, @Nullable PtNDArray> owned, SharedConstants constants) {
        this.graph = graph;
        this.manager = manager;
        this.owned = owned;
        this.constants = constants;
    }

    /**
     * A plan with its inputs. The plan stays open until the call is closed, also if it is evicted meanwhile.
     *
     * @param plan what is done
     * @param inputs the inputs that it reads, and no others
     */
    record Call(Plan plan, SequencedMap<String, Tensor> inputs) implements AutoCloseable {
        @Override
        public void close() {
            plan.release();
        }
    }

    /** The names of what comes out, in order. */
    List<String> outputs() {
        return graph.outputs();
    }

    /** Makes sure that the inputs fit, and finds the plan for them; the call is to be closed. */
    Call call(Map<String, Tensor> inputs) {
        SequencedMap<String, Tensor> given = new LinkedHashMap<>();
        for (Graph.Input input : graph.inputs()) {
            given.put(input.name(), required(input, inputs.get(input.name()), inputs));
        }
        if (given.size() != inputs.size()) {
            throw new IllegalArgumentException(
                    "inputs " + inputs.keySet() + " do not fit: there must be exactly " + given.keySet());
        }
        return new Call(plan(given), given);
    }

    private static Tensor required(Graph.Input input, @Nullable Tensor tensor, Map<String, Tensor> all) {
        if (tensor == null) {
            throw new IllegalArgumentException("input " + input.name() + " is missing among " + all.keySet());
        }
        DataType needed = input.type().data();
        if (tensor.type() != needed) {
            throw new IllegalArgumentException(
                    "input %s holds %s: the graph needs %s".formatted(input.name(), tensor.type(), needed));
        }
        return tensor;
    }

    private Plan plan(SequencedMap<String, Tensor> inputs) {
        List<List<Long>> key = inputs.values().stream()
                .map(tensor -> Arrays.stream(tensor.shape()).boxed().toList())
                .toList();
        synchronized (plans) {
            return plans.get(key, () -> compile(inputs)).retain();
        }
    }

    private Plan compile(Map<String, Tensor> inputs) {
        Map<String, long[]> shapes = new HashMap<>();
        inputs.forEach((name, tensor) -> shapes.put(name, tensor.shape()));
        PtNDManager ofPlan = manager.newSubManager(manager.getDevice());
        try {
            return Compiler.compile(Specialization.of(graph, shapes), ofPlan, this::ofNetwork, fuses());
        } catch (RuntimeException | Error problem) {
            ofPlan.close();
            throw problem;
        }
    }

    /** Whether attention is computed as a whole: on a GPU, where its scores would be read and written a dozen times. */
    private boolean fuses() {
        return manager.getDevice().isGpu() && FUSED && Torch.hasAttention();
    }

    /** The array of an initializer, whatever the shapes; null for what follows from them. */
    private @Nullable PtNDArray ofNetwork(String tensor) {
        Initializer initializer = graph.initializers().get(tensor);
        if (initializer == null) {
            return null;
        }
        PtNDArray own = owned.apply(tensor);
        return own != null ? own : constants.array(initializer.tensor());
    }
}
