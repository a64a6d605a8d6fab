package dev.espalier.engine;

import ai.djl.engine.Engine;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.NDScope;
import ai.djl.ndarray.types.SparseFormat;
import ai.djl.pytorch.engine.PtEngine;
import ai.djl.pytorch.engine.PtNDArray;
import ai.djl.pytorch.engine.PtNDManager;
import ai.djl.pytorch.jni.JniUtils;
import dev.espalier.core.check.Check;
import dev.espalier.core.group.ZeroPlaces;
import dev.espalier.core.tensor.TensorView;
import dev.espalier.cuda.driver.Gpu;
import dev.espalier.graph.Graph;
import dev.espalier.graph.GraphException;
import dev.espalier.graph.Initializer;
import dev.espalier.graph.Initializer.Kind;
import dev.espalier.graph.objective.Objective;
import dev.espalier.graph.objective.Terms;
import dev.espalier.graph.op.BatchNorm;
import dev.espalier.graph.op.Elementwise.Dropout;
import dev.espalier.graph.pass.SinglePrecision;
import dev.espalier.graph.type.Tensor;
import dev.espalier.torch.Torch;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A model whose tensors are where it is computed, on the CPU or a GPU: to be run, trained and read back. What it is trained
 * for is an {@link Objective} behind it.
 *
 * <pre>{@code
 * try (Network network = new Network(model, objective, Device.CPU)) {
 *     Terms terms = network.addGradients(Map.of("image", images), Map.of("label", labels), 1);
 *     optimizer.step(network.weights(), network.gradients());
 *     network.zeroGradients();
 * }
 * }</pre>
 *
 * <p>A model of half precision is computed and trained in single precision; what is fed in, what comes out and the model that is
 * read back are of its own types.
 *
 * <p>The first network of a process sets libtorch to what trains fastest on this machine ({@link Torch#tune}), for the whole
 * process; {@link Torch#switchOneDnn} sets it otherwise.
 *
 * <p>Inference ({@link #predict} and {@link #terms}) may run on several threads at once; all that trains or changes the network
 * needs it for itself.
 */
public final class Network implements AutoCloseable {
    /** Done once. Not by the network's own class: whoever wants a GPU has to ask for it before libtorch is loaded. */
    private static final class Tuning {
        static {
            Torch.tune();
        }

        /** Has this class initialized. */
        static void ensure() {}
    }

    /** What the array of all terms is called, and what a network does to itself. */
    private static final String TERMS = "terms";

    private static final String CLIP = "clip";
    private static final String ZERO_GRADIENTS = "zero gradients";
    private static final String ZERO_HELD = "zero held";
    private static final String PRODUCTS = "products";
    private static final String PUT_ASIDE = "put aside";

    /** The system property that says whether gradients lie side by side. */
    private static final String GRADIENTS = "espalier.gradients";

    private static final String APART = "apart";

    private final Device device;
    private final PtNDManager manager;
    /** The model as it is computed: in single precision at least. */
    private final Graph graph;
    /** The model with the types that it was given with; the same one unless it is of half precision. */
    private final Graph original;

    private final Program model;
    /** The model with its objective behind it; null if it has none. */
    private @Nullable Program judged;

    private final SharedConstants constants;

    private final SequencedMap<String, PtNDArray> arrays = new LinkedHashMap<>();
    private final SequencedMap<String, PtNDArray> gradients = new LinkedHashMap<>();
    /** The gradients side by side; null where they are not. */
    private @Nullable ArrayBlock block;

    /** The buffers that passes for training change, side by side; null where they are not. */
    private final @Nullable ArrayBlock buffers;

    /** What was in {@link #buffers} when it was put aside; null if it never was. */
    private @Nullable ArrayBlock buffersAside;

    /** The seed when it was put aside. */
    private long seedAside;

    /** Whether {@link #putAside} can be done. */
    private final boolean repeatable;

    /** Whether gradients count as zero, whatever is in them: the next pass for training begins with setting them to zero. */
    private boolean stale;

    /** Whether the processor looks into the arrays' memory itself, without copying. */
    private final boolean shared;

    private final boolean drops;

    /** What is recorded of the network, on a GPU; null where nothing is. */
    private @Nullable Recorder recorder;

    /** Held while what is dropped out is drawn. */
    private static final Object GENERATOR = new Object();
    /** Views of the parameters, made once: arrays of a network never move. Empty until they are asked for. */
    private SequencedMap<String, TensorView> weightViews = new LinkedHashMap<>();
    /** The same of the gradients that there are. */
    private SequencedMap<String, TensorView> gradientViews = new LinkedHashMap<>();
    /** The one copy in the processor's memory of arrays that are not shared, for {@link #snapshot} and {@link #state}. */
    private final Map<String, Tensors.Copy> near = new HashMap<>();

    /** Whether {@link #near} was handed out by {@link #state}, so that {@link #restore} reads it. */
    private boolean handedOut;

    /** See {@link #hold}. */
    private Map<String, List<ZeroPlaces>> held = Map.of();
    /** The same as factors; none where the processor reaches the weights. */
    private final SequencedMap<Mask.Key, Mask> masks = new LinkedHashMap<>();

    private Precision precision = Precision.FLOAT32;
    /** The seed of the next pass, as memory that can be saved. */
    private final long[] seed = new long[1];

    /**
     * A network to be run.
     *
     * @param model the model; its tensors are copied, and it need not be kept
     * @param device where the network is
     */
    public Network(Graph model, Device device) {
        this(model, null, device, !device.isGpu());
    }

    /**
     * A network to be trained, or judged.
     *
     * @param model the model; its tensors are copied, and it need not be kept
     * @param objective what it is trained for
     * @param device where the network is
     */
    public Network(Graph model, Objective objective, Device device) {
        this(model, objective, device, !device.isGpu());
    }

    /**
     * A network that is kept out of the processor's reach, wherever it is, as one on a GPU has to be. That makes nothing
     * better; it lets what GPUs need be tried where there is none.
     *
     * @param model the model; its tensors are copied, and it need not be kept
     * @param objective what it is trained for
     * @param device where the network is
     * @return the network
     */
    public static Network outOfReach(Graph model, Objective objective, Device device) {
        return new Network(model, objective, device, false);
    }

    private Network(Graph given, @Nullable Objective objective, Device device, boolean shared) {
        given.requireKnown();
        Graph full = SinglePrecision.of(given);
        this.device = device.require();
        Tuning.ensure();
        this.shared = shared;
        manager = (PtNDManager) NDManager.newBaseManager(Tensors.djl(device), PtEngine.ENGINE_NAME);
        try {
            if (device.isGpu()) {
                Torch.tuneGpus();
            }
            full.initializers().forEach((name, initializer) -> {
                if (initializer.kind() != Kind.CONSTANT) {
                    arrays.put(name, array(name, initializer));
                }
            });
            List<PtNDArray> changed = statistics(full).map(this::array).toList();
            buffers = shared ? null : ArrayBlock.of(manager, changed);
            repeatable = !shared && (changed.isEmpty() || buffers != null);
            graph = withoutContents(full);
            original = full == given ? graph : given;
            constants = new SharedConstants(manager);
            model = new Program(graph, manager, arrays::get, constants);
            judged = objective == null ? null : program(objective);
            recorder = Recorder.of(device, manager);
        } catch (RuntimeException | Error problem) {
            manager.close();
            throw problem;
        }
        drops = full.nodes().stream().anyMatch(node -> node.operator() instanceof Dropout);
    }

    /** The buffers that passes for training change. */
    private static Stream<String> statistics(Graph graph) {
        return graph.nodes().stream()
                .filter(node -> node.operator() instanceof BatchNorm)
                .flatMap(node -> node.inputs().subList(3, 5).stream())
                .filter(graph.tensors(Kind.BUFFER)::containsKey)
                .distinct();
    }

    private Program program(Objective objective) {
        return new Program(objective.behind(graph), manager, arrays::get, constants);
    }

    /**
     * Chooses what the network is trained for from now on.
     *
     * @param objective the objective
     * @return this network
     */
    public Network pursue(Objective objective) {
        judged = program(objective);
        forgetRecordings();
        return this;
    }

    /**
     * Chooses whether what the network does over and over on a GPU is recorded and then done as a whole (CUDA graphs), which is
     * faster and comes to the same. Off a GPU, and where that is not possible, nothing is recorded.
     *
     * @param wanted false to have one operation after the other asked for; true unless this is called
     * @return this network
     */
    public Network record(boolean wanted) {
        if (recorder != null) {
            recorder.close();
        }
        recorder = wanted ? Recorder.of(device, manager) : null;
        return this;
    }

    /** How much is recorded now. */
    int recordings() {
        return recorder == null ? 0 : recorder.count();
    }

    /** Number of pieces of work that the recorder remembers. */
    int rememberedWork() {
        return recorder == null ? 0 : recorder.size();
    }

    private void forgetRecordings() {
        if (recorder != null) {
            recorder.forgetAll();
        }
    }

    /** Does something to the network's own arrays, as a whole if that was recorded. */
    private void doToItself(Object what, boolean nothing, Runnable work) {
        if (nothing) {
            return;
        }
        if (recorder == null) {
            work.run();
        } else {
            recorder.run(what, work);
        }
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
        forgetRecordings();
        return this;
    }

    /** Sets libtorch's switches for the whole process as this network needs them: another may have set them since. */
    private void setSwitches() {
        if (!shared) {
            Torch.allowTf32(precision != Precision.FLOAT32);
        }
    }

    /**
     * Where the network is.
     *
     * @return the CPU or a GPU
     */
    public Device device() {
        return device;
    }

    /**
     * What networks compute with.
     *
     * @return the names and versions of libtorch and of what calls it
     */
    public static String engine() {
        Engine engine = Engine.getEngine(PtEngine.ENGINE_NAME);
        return engine.getEngineName() + " " + engine.getVersion() + " by DJL " + Engine.getDjlVersion();
    }

    /**
     * Chooses the parameters that are not trained: they get no gradient, and what would only serve those is not computed.
     * All others are trained. A batch normalisation whose scale and shift are both frozen goes by its statistics in training too,
     * and leaves them as they are.
     *
     * @param names true for the name of a parameter that stays as it is
     * @return this network
     */
    public Network freeze(Predicate<String> names) {
        settle();
        graph.tensors(Kind.PARAMETER).keySet().forEach(name -> array(name).setRequiresGradient(!names.test(name)));
        forgetRecordings();
        boolean fewer = gradients.keySet().removeIf(name -> {
            boolean frozen = !isTrained(name);
            if (frozen) {
                gradient(name).close();
            }
            return frozen;
        });
        if (fewer) {
            gatherGradients();
        }
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
        settle();
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
     * Runs the model for inference.
     *
     * @param inputs every input by name
     * @return copies of the outputs by name, in the graph's order
     */
    public SequencedMap<String, Tensor> predict(Map<String, Tensor> inputs) {
        SequencedMap<String, Tensor> computed =
                run(model, inputs, Mode.INFERENCE, 1, Pass::outputs).get();
        SequencedMap<String, Tensor> outputs = new LinkedHashMap<>();
        computed.forEach((name, output) ->
                outputs.put(name, output.cast(original.fact(name).data())));
        return outputs;
    }

    /**
     * Judges the model as it is for inference. Nothing but single numbers leaves the device.
     *
     * @param inputs every input of the model by name
     * @param targets what the objective compares the model with, by the targets' names
     * @return the objective's terms
     */
    public Terms terms(Map<String, Tensor> inputs, Map<String, Tensor> targets) {
        return terms(inputs, targets, Mode.INFERENCE, 1).get();
    }

    /**
     * Adds the gradients of a batch to what is there. Several of them may come before one update of the weights, each with its
     * share of the step. Nothing but single numbers leaves the device.
     *
     * @param inputs every input of the model by name
     * @param targets what the objective compares the model with, by the targets' names
     * @param share what the gradients are multiplied with
     * @return the objective's terms, not multiplied
     */
    public Terms addGradients(Map<String, Tensor> inputs, Map<String, Tensor> targets, double share) {
        return queueGradients(inputs, targets, share).get();
    }

    /**
     * The same without waiting for a GPU: what is asked of this network next finds the gradients added.
     *
     * @param inputs every input of the model by name
     * @param targets what the objective compares the model with, by the targets' names
     * @param share what the gradients are multiplied with
     * @return waits for the objective's terms, when they are asked for
     */
    public Supplier<Terms> queueGradients(Map<String, Tensor> inputs, Map<String, Tensor> targets, double share) {
        return terms(inputs, targets, Mode.TRAINING, share);
    }

    /**
     * Whether passes are queued on a GPU rather than done at once: then the sooner they are asked for, the less it idles.
     *
     * @return true off the CPU
     */
    public boolean queues() {
        return !shared;
    }

    /**
     * Puts the batch that the next step begins with on its way to a GPU, behind the pass that reads the last one and beside all else: the next
     * {@link #queueGradients} with these very tensors and this share, after {@link #zeroGradients}, finds it there. To be asked for
     * while the GPU is at work. It makes nothing different, only faster; where passes are not recorded, or this one not yet, nothing is
     * done.
     *
     * @param inputs every input of the model by name; left alone until the batch has been queued
     * @param targets what the objective compares the model with, by the targets' names; likewise
     * @param share what the gradients will be multiplied with
     */
    public void stage(Map<String, Tensor> inputs, Map<String, Tensor> targets, double share) {
        Recorder known = recorder;
        if (known == null || original != graph) {
            return;
        }
        try (Program.Call call = judged().call(behind(inputs, targets))) {
            synchronized (known) {
                known.stage(new Recorder.Key(call.plan(), Mode.TRAINING, share, true), call.inputs());
            }
        }
    }

    /** Waits until all that was queued on the network's GPU is done; elsewhere there is nothing to wait for. */
    public void await() {
        if (device.isGpu()) {
            try (Gpu gpu = Gpu.open(device.place().gpu())) {
                gpu.synchronize(Torch.stream(gpu.index()));
            }
            Recorder known = recorder;
            if (known != null) {
                known.awaitCopies();
            }
        }
    }

    private Supplier<Terms> terms(Map<String, Tensor> inputs, Map<String, Tensor> targets, Mode mode, double share) {
        Program program = judged();
        Supplier<SequencedMap<String, Tensor>> numbers =
                run(program, behind(inputs, targets), mode, share, Network::stacked);
        return () -> {
            Tensor all = numbers.get().firstEntry().getValue();
            SequencedMap<String, Double> values = new LinkedHashMap<>();
            program.outputs().forEach(output -> values.put(output, all.getDouble(values.size())));
            return new Terms(Objective.terms(values));
        };
    }

    private Program judged() {
        if (judged == null) {
            throw new IllegalStateException("network " + graph.name()
                    + " has no objective: it must be made with one, new Network(model, objective, device)");
        }
        return judged;
    }

    private static Map<String, Tensor> behind(Map<String, Tensor> inputs, Map<String, Tensor> targets) {
        Map<String, Tensor> all = new LinkedHashMap<>(inputs);
        targets.forEach((name, tensor) -> all.put(Objective.input(name), tensor));
        return all;
    }

    /** All terms as one array, as each would have to be waited for. */
    private static SequencedMap<String, PtNDArray> stacked(Pass pass) {
        PtNDArray[] numbers = pass.outputs().values().stream()
                .map(term -> ((PtNDArray) term).toType(ai.djl.ndarray.types.DataType.FLOAT64, false))
                .toArray(PtNDArray[]::new);
        SequencedMap<String, PtNDArray> all = new LinkedHashMap<>();
        all.put(TERMS, JniUtils.stack(numbers, 0));
        return all;
    }

    /** What is read of a pass before it is closed. */
    @FunctionalInterface
    private interface Reading {
        SequencedMap<String, ? extends NDArray> of(Pass pass);
    }

    /** Runs a program, operation by operation or as a whole, if that was recorded. In training, gradients are added. */
    private Supplier<SequencedMap<String, Tensor>> run(
            Program program, Map<String, Tensor> given, Mode mode, double share, Reading reading) {
        try (Program.Call call = program.call(computed(given))) {
            prepare(mode);
            return seeded(
                    mode,
                    () -> recorded(call, mode, share, reading).orElseGet(() -> {
                        SequencedMap<String, Tensor> tensors = new LinkedHashMap<>();
                        try (Pass pass = start(call, mode)) {
                            read(
                                    pass,
                                    share,
                                    reading,
                                    made -> made.forEach((name, array) -> tensors.put(name, Tensors.tensor(array))));
                        }
                        return () -> tensors;
                    }));
        }
    }

    /** Runs the model; the pass is to be closed. */
    Pass forward(Map<String, Tensor> inputs, Mode mode) {
        // What comes out has handles of its own, so the plan need not outlive the forward pass.
        try (Program.Call call = model.call(computed(inputs))) {
            prepare(mode);
            return seeded(mode, () -> start(call, mode));
        }
    }

    /** Inputs in the types that the model is computed in. */
    private Map<String, Tensor> computed(Map<String, Tensor> inputs) {
        return original == graph ? inputs : widened(inputs);
    }

    private <T> T seeded(Mode mode, Supplier<T> pass) {
        if (mode != Mode.TRAINING || !drops) {
            return pass.get();
        }
        // libtorch has one generator: nobody else may draw from it between the seed and the end of the pass.
        synchronized (GENERATOR) {
            JniUtils.setSeed(seed[0]++);
            return pass.get();
        }
    }

    private Optional<Supplier<SequencedMap<String, Tensor>>> recorded(
            Program.Call call, Mode mode, double share, Reading reading) {
        Recorder known = recorder;
        if (known == null) {
            return Optional.empty();
        }
        // One at a time, as recordings share their memory; what trains has the network for itself, and need not wait.
        synchronized (known) {
            boolean fresh = stale && mode.trains();
            Recorder.Key key = new Recorder.Key(call.plan(), mode, share, fresh);
            Optional<Recorded.Answer> answer = known.find(key, call.inputs(), (inputs, rehearsal, results) -> {
                        if (fresh) {
                            clearGradients();
                        }
                        Mode now = rehearsal && mode.trains() ? Mode.REHEARSAL : mode;
                        try (Pass pass =
                                precisely(() -> Pass.run(call.plan(), inputs, now, manager, this::setSwitches))) {
                            read(pass, share, reading, results);
                        }
                    })
                    .map(recording -> recording.run(call.inputs()));
            if (fresh && answer.isPresent()) {
                stale = false;
            }
            answer.filter(_ -> !mode.trains()).ifPresent(Recorded.Answer::get);
            return answer.map(found -> found::get);
        }
    }

    private Pass start(Program.Call call, Mode mode) {
        if (mode.trains()) {
            settle();
        }
        return precisely(() -> Pass.run(call, mode, manager, this::setSwitches));
    }

    private Pass precisely(Supplier<Pass> pass) {
        if (precision != Precision.BF16) {
            return pass.get();
        }
        try (Torch.Switched _ = Torch.bfloat16(manager.getDevice())) {
            return pass.get();
        }
    }

    private static void read(
            Pass pass, double share, Reading reading, Consumer<SequencedMap<String, PtNDArray>> results) {
        if (pass.trains()) {
            pass.backward(pass.output(Objective.output(Objective.LOSS)), share);
        }
        try (NDScope scope = new NDScope()) {
            scope.suppressNotUsedWarning();
            SequencedMap<String, PtNDArray> arrays = new LinkedHashMap<>();
            reading.of(pass).forEach((name, array) -> arrays.put(name, (PtNDArray) array));
            results.accept(arrays);
        }
    }

    private static Map<String, Tensor> widened(Map<String, Tensor> inputs) {
        Map<String, Tensor> wide = new LinkedHashMap<>();
        inputs.forEach((name, tensor) -> wide.put(name, tensor.cast(SinglePrecision.of(tensor.type()))));
        return wide;
    }

    private void prepare(Mode mode) {
        if (mode != Mode.TRAINING) {
            return;
        }
        int before = gradients.size();
        graph.tensors(Kind.PARAMETER).keySet().forEach(name -> {
            if (isTrained(name) && !gradients.containsKey(name)) {
                gradients.put(name, newGradient(array(name)));
            }
        });
        if (gradients.size() > before) {
            gatherGradients();
        }
    }

    /** After some have come or gone: the others are moved, too. */
    private void gatherGradients() {
        settle();
        gradientViews = new LinkedHashMap<>();
        if (shared) {
            return;
        }
        ArrayBlock before = block;
        block = APART.equals(System.getProperty(GRADIENTS)) ? null : ArrayBlock.of(manager, gradients.values());
        if (before != null) {
            before.close();
        }
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
     * The memory of what backward passes have added up since gradients were last set to zero. Off the CPU it is zero after
     * {@link #zeroGradients} once it is asked for again, here.
     *
     * @return the gradients of all trained parameters by name; none before the first pass for training
     */
    public SequencedMap<String, TensorView> gradients() {
        settle();
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
        return readableWeights(graph.tensors(Kind.PARAMETER).keySet());
    }

    /**
     * Some parameters as the processor can read them: off the CPU no others are copied.
     *
     * @param names which
     * @return on the CPU all {@link #weights} themselves; otherwise copies as of now, whose changes count for nothing
     */
    public SequencedMap<String, TensorView> readableWeights(Set<String> names) {
        return shared ? weights() : copies(names, this::array);
    }

    /**
     * The gradients as the processor can read them.
     *
     * @return on the CPU {@link #gradients} themselves; otherwise copies as of now, whose changes count for nothing
     */
    public SequencedMap<String, TensorView> readableGradients() {
        return readableGradients(gradients.keySet());
    }

    /**
     * The gradients of some parameters as the processor can read them: off the CPU no others are copied.
     *
     * @param names which
     * @return on the CPU all {@link #gradients} themselves; otherwise copies as of now, whose changes count for nothing
     */
    public SequencedMap<String, TensorView> readableGradients(Set<String> names) {
        return shared ? gradients() : copies(names, this::gradient);
    }

    /**
     * The network as it is now: to be looked at, and then trained on. Unlike {@link #graph} and {@link #readableWeights} it takes
     * no new memory every time.
     *
     * @return good until the network is changed, or another one is taken
     */
    public Snapshot snapshot() {
        return new Snapshot(graph, original, shared ? Optional.empty() : Optional.of(this::bringNear));
    }

    /** Copies arrays to memory of the processor that is kept. */
    private Map<String, Tensors.Copy> bringNear(Set<String> names) {
        names.forEach(name -> near.computeIfAbsent(name, _ -> Tensors.Copy.blank(array(name))));
        fill(names, near);
        return near;
    }

    /** Overwrites memory of the processor by arrays, which are all in row-major order. */
    private void fill(Set<String> names, Map<String, Tensors.Copy> places) {
        if (device.isGpu()) {
            try (Gpu gpu = Gpu.open(device.place().gpu())) {
                gpu.synchronize(Torch.stream(gpu.index()));
                fill(names, places, (there, here) -> gpu.copyOut(there.address(), here));
            }
        } else {
            fill(names, places, (there, here) -> here.copyFrom(there));
        }
    }

    private void fill(
            Set<String> names, Map<String, Tensors.Copy> places, BiConsumer<MemorySegment, MemorySegment> copy) {
        for (String name : names) {
            MemorySegment there = Tensors.memory(array(name));
            if (there.byteSize() > 0) {
                copy.accept(there, Objects.requireNonNull(places.get(name)).memory());
            }
        }
    }

    private static SequencedMap<String, TensorView> copies(Set<String> names, Function<String, PtNDArray> arrays) {
        SequencedMap<String, TensorView> views = new LinkedHashMap<>();
        names.forEach(name -> views.put(name, Tensors.copy(arrays.apply(name)).view()));
        return views;
    }

    /**
     * Parameters seen as {@code [outer, count, inner]}, each multiplied with its gradient and added up along all but the axis in
     * the middle, in double precision. It is done where they are, and nothing but the sums leaves the device, which is not waited for.
     *
     * @param axes how each parameter is seen, by name
     * @return waits for {@code count} sums for each, by name, when they are asked for; as the weights and gradients are now
     */
    public Supplier<Map<String, double[]>> products(Map<String, Axis> axes) {
        if (shared) {
            Map<String, double[]> sums = new ConcurrentHashMap<>();
            SequencedMap<String, TensorView> x = weights();
            SequencedMap<String, TensorView> g = gradients();
            axes.entrySet().parallelStream()
                    .forEach(entry -> sums.put(
                            entry.getKey(), entry.getValue().products(of(x, entry.getKey()), of(g, entry.getKey()))));
            return () -> sums;
        }
        settle();
        SortedMap<String, Axis> sorted = new TreeMap<>(axes);
        Optional<Recorded.Answer> recorded = recorder == null
                ? Optional.empty()
                : recorder.ask(new Products(sorted), (inputs, rehearsal, results) -> addUp(sorted, results));
        if (recorded.isPresent()) {
            Recorded.Answer answer = recorded.get();
            return () -> split(answer.get().firstEntry().getValue(), sorted);
        }
        SequencedMap<String, Tensor> made = new LinkedHashMap<>();
        addUp(sorted, sums -> sums.forEach((name, array) -> made.put(name, Tensors.tensor(array))));
        return () -> split(made.firstEntry().getValue(), sorted);
    }

    /** What {@link #products} are recorded under. */
    private record Products(SortedMap<String, Axis> axes) {}

    /** All sums one after the other; of a large model, products of all parameters at once would take too much memory. */
    private void addUp(SortedMap<String, Axis> axes, Consumer<SequencedMap<String, PtNDArray>> results) {
        try (NDScope scope = new NDScope()) {
            scope.suppressNotUsedWarning();
            PtNDArray[] all = axes.entrySet().stream()
                    .map(entry -> entry.getValue().products(array(entry.getKey()), gradient(entry.getKey())))
                    .toArray(PtNDArray[]::new);
            SequencedMap<String, PtNDArray> sums = new LinkedHashMap<>();
            sums.put(PRODUCTS, JniUtils.cat(all, 0));
            Arrays.stream(all).forEach(PtNDArray::close);
            results.accept(sums);
        }
    }

    private static TensorView of(Map<String, TensorView> views, String name) {
        TensorView view = views.get(name);
        if (view == null) {
            throw new IllegalArgumentException("parameter " + name + " is not there, or has no gradient");
        }
        return view;
    }

    private static Map<String, double[]> split(Tensor all, SortedMap<String, Axis> axes) {
        Map<String, double[]> sums = new HashMap<>();
        long[] from = {0};
        axes.forEach((name, axis) -> {
            double[] own = new double[(int) axis.count()];
            Arrays.setAll(own, i -> all.getDouble(from[0] + i));
            sums.put(name, own);
            from[0] += own.length;
        });
        return sums;
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
     * Chooses the weights that stay zero: {@link #zeroHeld} sets them to zero, after each {@link TrainingStep} and whenever it is
     * called. Those that were held before are not held any more.
     *
     * @param zeros where they are, by the parameters' names
     * @return this network
     */
    public Network hold(Map<String, List<ZeroPlaces>> zeros) {
        Map<String, List<ZeroPlaces>> next = new LinkedHashMap<>();
        zeros.forEach((name, places) -> next.put(name, List.copyOf(places)));
        held = next;
        if (!shared) {
            changeMasks();
        }
        return this;
    }

    /**
     * Holds no weights any more.
     *
     * @return this network
     */
    public Network release() {
        return hold(Map.of());
    }

    /** Masks that are still of use stay where they are, with other contents: so what is recorded of them goes on. */
    private void changeMasks() {
        SequencedMap<Mask.Key, ZeroPlaces> wanted = new LinkedHashMap<>();
        held.forEach((name, places) -> places.forEach(some -> wanted.put(new Mask.Key(name, some.axis()), some)));
        if (!wanted.keySet().equals(masks.keySet())) {
            if (recorder != null) {
                recorder.forget(ZERO_HELD);
            }
            masks.entrySet().removeIf(old -> {
                boolean gone = !wanted.containsKey(old.getKey());
                if (gone) {
                    old.getValue().close();
                }
                return gone;
            });
        }
        wanted.forEach((key, places) -> masks.computeIfAbsent(
                        key, _ -> new Mask(manager, array(key.parameter()), key.axis()))
                .set(places));
    }

    /** Sets the weights that are held to zero, where they are. */
    public void zeroHeld() {
        if (shared) {
            held.forEach((name, places) -> places.forEach(some -> some.clear(of(weights(), name))));
        } else {
            doToItself(
                    ZERO_HELD, masks.isEmpty(), () -> masks.forEach((key, mask) -> mask.apply(array(key.parameter()))));
        }
    }

    /**
     * Scales all gradients, where they are, so that the norm of the whole is at most what is allowed. Of a gradient that is
     * not finite nothing can be saved: it stays as it is.
     *
     * @param most the largest norm, above 0
     */
    public void clipGradients(double most) {
        Check.positive("most", most);
        if (shared) {
            GradientNorm.clip(gradients().values(), most);
        } else if (!stale) {
            doToItself(CLIP + " " + most, gradients.isEmpty(), () -> clipFar(most));
        }
    }

    /** Without waiting for a norm: it decides where the gradients are, and multiplies with one if they are short enough. */
    private void clipFar(double most) {
        try (NDScope scope = new NDScope()) {
            scope.suppressNotUsedWarning();
            PtNDArray norm = farNorm().toType(ai.djl.ndarray.types.DataType.FLOAT64, false);
            PtNDArray scale = JniUtils.div(Tensors.scalar(norm, most), norm);
            PtNDArray one = Tensors.scalar(norm, 1);
            // Not for NaN, nor for 0, which an infinite norm gives.
            PtNDArray clips = JniUtils.logicalAnd(JniUtils.gt(one, scale), JniUtils.gt(scale, Tensors.scalar(norm, 0)));
            PtNDArray factor = JniUtils.where(clips, scale, one)
                    .toType(gradients.firstEntry().getValue().getDataType(), false);
            if (block != null) {
                block.multiply(factor);
            } else {
                gradients.values().forEach(gradient -> JniUtils.muli(gradient, factor));
            }
        }
    }

    /**
     * Adds parameters to their gradients, where they are: weight decay that is part of the gradient.
     *
     * @param share what the parameters are multiplied with
     * @param names which parameters; they are trained, and have gradients
     */
    public void decayGradients(double share, Set<String> names) {
        settle();
        doToItself(new Decay(share, Set.copyOf(names)), names.isEmpty(), () -> {
            try (NDScope scope = new NDScope()) {
                scope.suppressNotUsedWarning();
                names.forEach(name -> JniUtils.addi(gradient(name), Tensors.times(array(name), share)));
            }
        });
    }

    /** What {@link #decayGradients} is recorded under. */
    private record Decay(double share, Set<String> names) {}

    private PtNDArray farNorm() {
        if (block != null) {
            return block.norm();
        }
        PtNDArray[] squares = gradients.values().stream()
                .map(gradient -> JniUtils.sum(JniUtils.square(gradient)))
                .toArray(PtNDArray[]::new);
        return JniUtils.sqrt(
                JniUtils.sum(JniUtils.stack(squares, 0)).toType(ai.djl.ndarray.types.DataType.FLOAT64, false));
    }

    /**
     * All that training changes in the network, as memory by name: every parameter and buffer, and what is dropped out next.
     * Whoever saves it and later reads it back into a network of the same graph goes on bit for bit. On the CPU it is the
     * live memory; otherwise a copy as of now, which takes no new memory every time, and what is read into it counts after
     * {@link #restore}.
     *
     * @return the memory, in a fixed order; good until the network is closed, or off the CPU until its state or a snapshot is taken
     *     again
     */
    public SequencedMap<String, MemorySegment> state() {
        SequencedMap<String, MemorySegment> state = new LinkedHashMap<>();
        state.put("seed", MemorySegment.ofArray(seed));
        if (shared) {
            arrays.forEach((name, array) -> state.put("tensor/" + name, Tensors.memory(array)));
        } else {
            Map<String, Tensors.Copy> copies = bringNear(arrays.keySet());
            arrays.keySet()
                    .forEach(name -> state.put(
                            "tensor/" + name,
                            Objects.requireNonNull(copies.get(name), name).memory()));
            handedOut = true;
        }
        return state;
    }

    /** Takes over what was read into the last {@link #state}. */
    public void restore() {
        if (handedOut) {
            handedOut = false;
            near.forEach((name, copy) -> Tensors.load(array(name), copy.tensor()));
        }
    }

    /** Whether {@link #putAside} can be done. */
    boolean isRepeatable() {
        return repeatable;
    }

    /** Puts aside what a pass for training changes besides gradients: statistics, and what is dropped out next. */
    void putAside() {
        seedAside = seed[0];
        ArrayBlock now = buffers;
        if (now != null) {
            ArrayBlock aside = buffersAside == null ? now.blank() : buffersAside;
            buffersAside = aside;
            doToItself(PUT_ASIDE, false, () -> aside.store(now));
        }
    }

    /** Takes back what was put aside, as if the pass had not been. Its gradients stay. */
    void takeBack() {
        seed[0] = seedAside;
        if (buffers != null) {
            buffers.store(Objects.requireNonNull(buffersAside));
        }
    }

    /** Sets all gradients to zero; nobody else does. On a GPU that is part of the next pass for training, if nobody looks before. */
    public void zeroGradients() {
        stale = !gradients.isEmpty();
        if (shared) {
            settle();
        }
    }

    /** Sets gradients to zero that count as zero: somebody wants to see them. */
    private void settle() {
        if (stale) {
            stale = false;
            doToItself(ZERO_GRADIENTS, gradients.isEmpty(), this::clearGradients);
        }
    }

    private void clearGradients() {
        if (block != null) {
            block.zero();
        } else {
            gradients.keySet().forEach(name -> JniUtils.zeroGrad(array(name)));
        }
    }

    /**
     * The model as it is now, without the objective.
     *
     * @return the graph with copies of all parameters and buffers, in the types that it was given with
     */
    public Graph graph() {
        Map<String, Tensor> current = new HashMap<>();
        arrays.forEach((name, array) ->
                current.put(name, Tensors.tensor(array).cast(original.fact(name).data())));
        return original.withTensors(current);
    }

    /**
     * Takes over the parameters and buffers of a graph.
     *
     * @param other a graph that has all of this network's parameters and buffers, of the same types and shapes
     */
    public void load(Graph other) {
        Map<String, Tensor> found = new LinkedHashMap<>();
        arrays.keySet().forEach(name -> found.put(name, fitting(name, other)));
        found.forEach((name, tensor) -> Tensors.load(array(name), tensor.cast(SinglePrecision.of(tensor.type()))));
    }

    private Tensor fitting(String name, Graph other) {
        Tensor tensor = other.tensor(name);
        String needed = original.fact(name).type().toString();
        if (tensor == null || !tensor.tensorType().toString().equals(needed)) {
            throw new GraphException("graph %s has %s for %s: it must be of type %s"
                    .formatted(other.name(), tensor == null ? "nothing" : tensor, name, needed));
        }
        return tensor;
    }

    /** The manager that owns the network's arrays, and that passes are made under. */
    PtNDManager manager() {
        return manager;
    }

    /** Closes all arrays of the network, and of passes that are still open. */
    @Override
    public void close() {
        if (recorder != null) {
            recorder.close();
        }
        manager.close();
    }
}
