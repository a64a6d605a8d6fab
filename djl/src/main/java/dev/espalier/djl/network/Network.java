package dev.espalier.djl.network;

import ai.djl.Device;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.NDScope;
import ai.djl.ndarray.types.SparseFormat;
import ai.djl.pytorch.engine.PtEngine;
import ai.djl.pytorch.engine.PtNDArray;
import ai.djl.pytorch.engine.PtNDManager;
import ai.djl.pytorch.jni.JniUtils;
import dev.espalier.djl.torch.Torch;
import dev.espalier.graph.Graph;
import dev.espalier.graph.GraphException;
import dev.espalier.graph.Initializer;
import dev.espalier.graph.Initializer.Kind;
import dev.espalier.graph.pass.Specialization;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import dev.espalier.tensor.Place;
import dev.espalier.tensor.TensorView;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A graph whose tensors are arrays of DJL's PyTorch engine: to be run, trained and read back.
 *
 * <pre>{@code
 * try (Network network = new Network(graph, Device.cpu());
 *         Pass pass = network.forward(Map.of("image", images), Mode.TRAINING)) {
 *     NDArray loss = ... pass.output("logits") ...;
 *     pass.backward(loss);
 *     optimizer.step(network.weights(), network.gradients());
 *     network.zeroGradients();
 * }
 * }</pre>
 *
 * <p>The first network of a process sets libtorch to what trains fastest on this machine ({@link Torch#tune}), for the whole
 * process; {@link Torch#switchOneDnn} sets it otherwise.
 *
 * <p>Passes for inference may run on several threads at once; passes for training, and all that changes the network, need
 * it for themselves.
 */
public final class Network implements AutoCloseable {
    /** Shapes of inputs that plans are kept for; the one that was not used for longest goes first. */
    private static final int MOST_PLANS = 32;

    static {
        Torch.tune();
    }

    private final PtNDManager manager;
    private final Graph graph;
    private final SequencedMap<String, PtNDArray> arrays = new LinkedHashMap<>();
    private final SequencedMap<String, PtNDArray> gradients = new LinkedHashMap<>();
    private final SequencedMap<List<List<Long>>, Plan> plans = new LinkedHashMap<>(16, 0.75f, true);
    private final Place place;
    /** Whether the processor looks into the arrays' memory itself, without copying. */
    private final boolean shared;

    private final boolean drops;
    /** Views of the parameters, made once: arrays of a network never move. Empty until they are asked for. */
    private SequencedMap<String, TensorView> weightViews = new LinkedHashMap<>();
    /** The same of the gradients that there are. */
    private SequencedMap<String, TensorView> gradientViews = new LinkedHashMap<>();
    /** What {@link #state} has handed out of arrays that are not shared. */
    private final SequencedMap<String, Tensors.Copy> copies = new LinkedHashMap<>();

    private Precision precision = Precision.FLOAT32;
    /** The seed of the next pass, as memory that can be saved. */
    private final long[] seed = new long[1];

    /**
     * A network.
     *
     * @param graph the graph; its tensors are copied, and it need not be kept
     * @param device where the arrays are: the CPU or a GPU
     */
    public Network(Graph graph, Device device) {
        this(graph, device, Torch.place(device).isHost());
    }

    /**
     * A network that is kept out of the processor's reach, wherever it is, as one on a GPU has to be. That makes nothing
     * better; it lets what GPUs need be tried where there is none.
     *
     * @param graph the graph; its tensors are copied, and it need not be kept
     * @param device where the arrays are: the CPU or a GPU
     * @return the network
     */
    public static Network outOfReach(Graph graph, Device device) {
        return new Network(graph, device, false);
    }

    private Network(Graph graph, Device device, boolean shared) {
        this.place = Torch.place(device);
        this.shared = shared;
        manager = (PtNDManager) NDManager.newBaseManager(device, PtEngine.ENGINE_NAME);
        try {
            if (!place.isHost()) {
                Torch.tuneGpus();
            }
            graph.initializers().forEach((name, initializer) -> {
                if (initializer.kind() != Kind.CONSTANT) {
                    arrays.put(name, array(name, initializer));
                }
            });
            this.graph = withoutContents(graph);
        } catch (RuntimeException | Error problem) {
            manager.close();
            throw problem;
        }
        drops = graph.nodes().stream()
                .anyMatch(node -> node.operator() instanceof dev.espalier.graph.op.Elementwise.Dropout);
    }

    private PtNDArray array(String name, Initializer initializer) {
        Tensor tensor = initializer.tensor();
        boolean trained = initializer.kind() == Kind.PARAMETER;
        if (trained && !tensor.type().isFloat()) {
            throw new GraphException("parameter " + name + " of type " + tensor
                    + " cannot be trained: it must be of a floating point type, or a buffer or constant");
        }
        PtNDArray array = Tensors.upload(manager, tensor);
        array.setName(name);
        array.setRequiresGradient(trained);
        return array;
    }

    /** The graph on the arrays' own memory, so that a second copy of all weights need not be kept. */
    private Graph withoutContents(Graph full) {
        if (!shared) {
            return full;
        }
        Map<String, Tensor> lent = new HashMap<>();
        arrays.forEach((name, array) -> lent.put(
                name,
                Tensor.of(Tensors.type(array.getDataType()), array.getShape().getShape(), Tensors.memory(array))));
        return full.withTensors(lent);
    }

    /**
     * Chooses what is dropped out in training. Without this, passes of two networks that were made alike drop the same.
     * libtorch has one generator of random numbers: each training pass of a network that drops elements out seeds it anew.
     *
     * @param number any number
     * @return this network
     */
    public Network seed(long number) {
        seed[0] = number;
        return this;
    }

    /**
     * Chooses how exactly products and convolutions are computed. libtorch has one switch for what single precision means on
     * GPUs: every pass sets it, forward and backward. So networks of different precision may take turns, but must not run on
     * several threads at once.
     *
     * @param other the precision; {@link Precision#FLOAT32} unless this is called
     * @return this network
     */
    public Network precision(Precision other) {
        precision = other;
        return this;
    }

    /** Sets libtorch's switches for the whole process as this network needs them: another may have set them since. */
    private void setSwitches() {
        if (!shared) {
            Torch.allowTf32(precision != Precision.FLOAT32);
        }
    }

    /**
     * Whether the processor looks into the network's memory itself.
     *
     * @return true on the CPU, unless it was made {@link #outOfReach}; otherwise what looks into weights gets copies
     */
    public boolean shared() {
        return shared;
    }

    /**
     * Chooses the parameters that are not trained: they get no gradient, and what would only serve those is not computed.
     * All others are trained.
     *
     * @param names true for the name of a parameter that stays as it is
     * @return this network
     */
    public Network freeze(Predicate<String> names) {
        graph.tensors(Kind.PARAMETER).keySet().forEach(name -> array(name).setRequiresGradient(!names.test(name)));
        gradients.keySet().removeIf(name -> {
            boolean frozen = !isTrained(name);
            if (frozen) {
                gradient(name).close();
            }
            return frozen;
        });
        gradientViews = new LinkedHashMap<>();
        return this;
    }

    private PtNDArray array(String name) {
        PtNDArray array = arrays.get(name);
        if (array == null) {
            throw new IllegalArgumentException("there is no parameter or buffer " + name);
        }
        return array;
    }

    PtNDArray gradient(String name) {
        PtNDArray array = gradients.get(name);
        if (array == null) {
            throw new IllegalArgumentException("parameter " + name + " has no gradient");
        }
        return array;
    }

    private boolean isTrained(String name) {
        return array(name).hasGradient();
    }

    /**
     * Runs the network.
     *
     * @param inputs every input by name; they stay the caller's
     * @param mode what for
     * @return the pass, with the outputs; to be closed
     */
    public Pass forward(Map<String, NDArray> inputs, Mode mode) {
        Map<String, PtNDArray> given = new LinkedHashMap<>();
        for (Graph.Input input : graph.inputs()) {
            given.put(input.name(), required(input, inputs.get(input.name()), inputs));
        }
        if (given.size() != inputs.size()) {
            throw new IllegalArgumentException(
                    "inputs " + inputs.keySet() + " do not fit: there must be exactly " + given.keySet());
        }
        if (mode == Mode.TRAINING) {
            prepareTraining();
        }
        return run(plan(given), given, mode);
    }

    private Pass run(Plan plan, Map<String, PtNDArray> inputs, Mode mode) {
        if (precision != Precision.BF16) {
            return Pass.run(plan, inputs, mode, manager, this::setSwitches);
        }
        try (Torch.Switched _ = Torch.bfloat16(manager.getDevice())) {
            return Pass.run(plan, inputs, mode, manager, this::setSwitches);
        }
    }

    /**
     * Runs the network.
     *
     * @param inputs every input, in the graph's order; they stay the caller's
     * @param mode what for
     * @return the pass, with the outputs; to be closed
     */
    public Pass forward(NDList inputs, Mode mode) {
        if (inputs.size() != graph.inputs().size()) {
            throw new IllegalArgumentException(
                    "there are " + inputs.size() + " inputs but the graph has " + graph.inputs());
        }
        Map<String, NDArray> named = new LinkedHashMap<>();
        for (int i = 0; i < inputs.size(); i++) {
            named.put(graph.inputs().get(i).name(), inputs.get(i));
        }
        return forward(named, mode);
    }

    private PtNDArray required(Graph.Input input, @Nullable NDArray array, Map<String, NDArray> all) {
        if (array == null) {
            throw new IllegalArgumentException("input " + input.name() + " is missing among " + all.keySet());
        }
        if (!(array instanceof PtNDArray ours)) {
            throw new IllegalArgumentException("input " + input.name() + " is a "
                    + array.getClass().getSimpleName() + ": it must be an array of the PyTorch engine");
        }
        DataType needed = input.type().data();
        if (array.getDataType() != Tensors.djl(needed)) {
            throw new IllegalArgumentException("input %s holds %s: the graph needs %s, see NDArray.toType"
                    .formatted(input.name(), array.getDataType(), needed));
        }
        if (!array.getDevice().equals(manager.getDevice())) {
            throw new IllegalArgumentException("input %s is on %s: the network is on %s, see NDArray.toDevice"
                    .formatted(input.name(), array.getDevice(), manager.getDevice()));
        }
        return ours;
    }

    private Plan plan(Map<String, PtNDArray> inputs) {
        List<List<Long>> key = inputs.values().stream()
                .map(array -> Arrays.stream(array.getShape().getShape()).boxed().toList())
                .toList();
        synchronized (plans) {
            Plan known = plans.get(key);
            if (known != null) {
                return known;
            }
            Plan made = compile(inputs);
            plans.put(key, made);
            if (plans.size() > MOST_PLANS) {
                plans.pollFirstEntry().getValue().close();
            }
            return made;
        }
    }

    private Plan compile(Map<String, PtNDArray> inputs) {
        Map<String, long[]> shapes = new HashMap<>();
        inputs.forEach((name, array) -> shapes.put(name, array.getShape().getShape()));
        PtNDManager constants = manager.newSubManager(manager.getDevice());
        try {
            return Compiler.compile(Specialization.of(graph, shapes), constants, arrays::get);
        } catch (RuntimeException | Error problem) {
            constants.close();
            throw problem;
        }
    }

    private void prepareTraining() {
        if (drops) {
            JniUtils.setSeed(seed[0]++);
        }
        graph.tensors(Kind.PARAMETER).keySet().forEach(name -> {
            if (isTrained(name) && !gradients.containsKey(name)) {
                gradients.put(name, newGradient(array(name)));
            }
        });
    }

    /** Has libtorch make a gradient of zeros, into which it then adds up all others, so that it never moves. */
    private static PtNDArray newGradient(PtNDArray parameter) {
        try (NDScope scope = new NDScope()) {
            scope.suppressNotUsedWarning();
            PtNDArray zero = JniUtils.createZerosNdArray(
                    parameter.getManager(),
                    Tensors.shape(),
                    parameter.getDataType(),
                    parameter.getDevice(),
                    SparseFormat.DENSE);
            JniUtils.backward(parameter, JniUtils.broadcast(zero, parameter.getShape()), false, false);
            // One that was frozen may still have what it had before.
            JniUtils.zeroGrad(parameter);
            PtNDArray gradient = parameter.getGradient();
            NDScope.unregister(gradient);
            return gradient;
        }
    }

    /**
     * The parameters' memory where it is, to be read and written between passes.
     *
     * @return all parameters by name, frozen ones too; good until the network is closed
     */
    public SequencedMap<String, TensorView> weights() {
        if (weightViews.isEmpty()) {
            weightViews = views(graph.tensors(Kind.PARAMETER).keySet(), this::array);
        }
        return Collections.unmodifiableSequencedMap(weightViews);
    }

    /**
     * The memory of what backward passes have added up since gradients were last set to zero.
     *
     * @return the gradients of all trained parameters by name; none before the first pass for training
     */
    public SequencedMap<String, TensorView> gradients() {
        if (gradientViews.size() != gradients.size()) {
            gradientViews = views(gradients.keySet(), this::gradient);
        }
        return Collections.unmodifiableSequencedMap(gradientViews);
    }

    private static SequencedMap<String, TensorView> views(Set<String> names, Function<String, PtNDArray> arrays) {
        SequencedMap<String, TensorView> views = new LinkedHashMap<>();
        names.forEach(name -> views.put(name, Tensors.view(arrays.apply(name))));
        return views;
    }

    /**
     * The parameters as the processor can read them.
     *
     * @return on the CPU {@link #weights} themselves; otherwise copies as of now, whose changes count for nothing
     */
    public SequencedMap<String, TensorView> readableWeights() {
        if (shared) {
            return weights();
        }
        SequencedMap<String, TensorView> views = new LinkedHashMap<>();
        weightCopies().forEach((name, copy) -> views.put(name, copy.view()));
        return views;
    }

    /**
     * Has the processor change parameters in place. Off the CPU all of them go there and back: not for every step.
     *
     * @param change what is done to the parameters by name
     */
    public void changeWeights(Consumer<Map<String, TensorView>> change) {
        if (shared) {
            change.accept(weights());
            return;
        }
        Map<String, Tensors.Copy> changed = weightCopies();
        SequencedMap<String, TensorView> views = new LinkedHashMap<>();
        changed.forEach((name, copy) -> views.put(name, copy.view()));
        change.accept(views);
        changed.forEach((name, copy) -> Tensors.load(array(name), copy.tensor()));
    }

    private SequencedMap<String, Tensors.Copy> weightCopies() {
        SequencedMap<String, Tensors.Copy> found = new LinkedHashMap<>();
        graph.tensors(Kind.PARAMETER).keySet().forEach(name -> found.put(name, Tensors.copy(array(name))));
        return found;
    }

    /**
     * Multiplies parameters element by element, where they are.
     *
     * @param factors an array of the parameter's shape and on its device, by the names of some parameters
     */
    public void multiplyWeights(Map<String, NDArray> factors) {
        factors.forEach((name, factor) -> JniUtils.muli(array(name), (PtNDArray) factor));
    }

    /**
     * Scales all gradients, where they are, so that the norm of the whole is at most what is allowed. Of a gradient that is
     * not finite nothing can be saved: it stays as it is.
     *
     * @param most the largest norm, above 0
     */
    public void clipGradients(double most) {
        if (gradients.isEmpty()) {
            return;
        }
        try (NDScope scope = new NDScope()) {
            scope.suppressNotUsedWarning();
            PtNDArray[] squares = gradients.values().stream()
                    .map(gradient -> JniUtils.sum(JniUtils.square(gradient)))
                    .toArray(PtNDArray[]::new);
            double norm = Math.sqrt(
                    Tensors.tensor(JniUtils.sum(JniUtils.stack(squares, 0))).getDouble(0));
            if (norm > most && Double.isFinite(norm)) {
                PtNDArray scale = Tensors.scalar(squares[0], most / norm);
                gradients.values().forEach(gradient -> JniUtils.muli(gradient, scale));
            }
        }
    }

    /**
     * All that training changes in the network, as memory by name: every parameter and buffer, and what is dropped out next.
     * Whoever saves it and later reads it back into a network of the same graph goes on bit for bit. On the CPU it is the
     * live memory; otherwise a copy as of now, and what is read into it counts after {@link #restore}.
     *
     * @return the memory, in a fixed order; good until the network is closed
     */
    public SequencedMap<String, MemorySegment> state() {
        SequencedMap<String, MemorySegment> state = new LinkedHashMap<>();
        state.put("seed", MemorySegment.ofArray(seed));
        arrays.forEach((name, array) -> state.put("tensor/" + name, shared ? Tensors.memory(array) : copied(name)));
        return state;
    }

    private MemorySegment copied(String name) {
        Tensors.Copy copy = Tensors.copy(array(name));
        copies.put(name, copy);
        return copy.memory();
    }

    /** Takes over what was read into the last {@link #state}. */
    public void restore() {
        copies.forEach((name, copy) -> Tensors.load(array(name), copy.tensor()));
        copies.clear();
    }

    /** Sets all gradients to zero; nobody else does. */
    public void zeroGradients() {
        gradients.keySet().forEach(name -> JniUtils.zeroGrad(array(name)));
    }

    /**
     * The network as it is now.
     *
     * @return the graph with copies of all parameters and buffers
     */
    public Graph graph() {
        Map<String, Tensor> current = new HashMap<>();
        arrays.forEach((name, array) -> current.put(name, Tensors.tensor(array)));
        return graph.withTensors(current);
    }

    /**
     * Runs the network for inference.
     *
     * @param inputs every input by name
     * @return copies of the outputs by name, in the graph's order
     */
    public SequencedMap<String, Tensor> predict(Map<String, Tensor> inputs) {
        try (NDManager scratch = manager.newSubManager()) {
            Map<String, NDArray> given = new LinkedHashMap<>();
            inputs.forEach((name, tensor) -> given.put(name, Tensors.of(scratch, tensor)));
            try (Pass pass = forward(given, Mode.INFERENCE)) {
                SequencedMap<String, Tensor> outputs = new LinkedHashMap<>();
                pass.outputs().forEach((name, output) -> outputs.put(name, Tensors.tensor(output)));
                return outputs;
            }
        }
    }

    /**
     * Takes over the parameters and buffers of a graph.
     *
     * @param other a graph that has all of this network's parameters and buffers, of the same types and shapes
     */
    public void load(Graph other) {
        Map<String, Tensor> found = new LinkedHashMap<>();
        arrays.keySet().forEach(name -> found.put(name, fitting(name, other)));
        found.forEach((name, tensor) -> Tensors.load(array(name), tensor));
    }

    private Tensor fitting(String name, Graph other) {
        Tensor tensor = other.tensor(name);
        String needed = graph.fact(name).type().toString();
        if (tensor == null || !tensor.tensorType().toString().equals(needed)) {
            throw new GraphException("graph %s has %s for %s: it must be of type %s"
                    .formatted(other.name(), tensor == null ? "nothing" : tensor, name, needed));
        }
        return tensor;
    }

    /**
     * The manager that owns the network's arrays, and that passes are made under.
     *
     * @return closed with the network
     */
    public NDManager manager() {
        return manager;
    }

    /** Closes all arrays of the network, and of passes that are still open. */
    @Override
    public void close() {
        manager.close();
    }
}
