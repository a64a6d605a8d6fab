package dev.espalier.engine;

import ai.djl.engine.EngineException;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDScope;
import ai.djl.ndarray.types.SparseFormat;
import ai.djl.pytorch.engine.PtNDArray;
import ai.djl.pytorch.engine.PtNDManager;
import ai.djl.pytorch.jni.JniUtils;
import dev.espalier.graph.GraphException;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SequencedMap;

/**
 * One run of a network. It owns all arrays that the run made; closing it closes them.
 *
 * <p>libtorch remembers for each thread whether operations are recorded for gradients. A pass in training switches this on
 * for its thread, so that a loss can be computed from its outputs, and puts it back when it is closed: open and close
 * passes on one thread, the last one first.
 */
final class Pass implements AutoCloseable {
    private final PtNDManager manager;
    private final Mode mode;
    private final boolean recordedBefore;
    private final Runnable switches;
    private final SequencedMap<String, NDArray> outputs;
    private boolean closed;

    private Pass(
            PtNDManager manager,
            Mode mode,
            boolean recordedBefore,
            Runnable switches,
            SequencedMap<String, NDArray> outputs) {
        this.manager = manager;
        this.mode = mode;
        this.recordedBefore = recordedBefore;
        this.switches = switches;
        this.outputs = Collections.unmodifiableSequencedMap(outputs);
    }

    /**
     * Runs a plan on inputs that go where the parent's arrays are; {@code switches} sets what libtorch has one of for the whole
     * process, before it computes either way.
     */
    static Pass run(Program.Call call, Mode mode, PtNDManager parent, Runnable switches) {
        try (PtNDManager uploads = parent.newSubManager(parent.getDevice())) {
            Map<String, PtNDArray> inputs = new LinkedHashMap<>();
            call.inputs().forEach((name, tensor) -> inputs.put(name, Tensors.upload(uploads, tensor)));
            return run(call.plan(), inputs, mode, parent, switches);
        }
    }

    /** The same on inputs that are there, which stay open. */
    @SuppressWarnings("MustBeClosedChecker") // what is opened here is closed by the pass, or below if there is none
    static Pass run(Plan plan, Map<String, PtNDArray> given, Mode mode, PtNDManager parent, Runnable switches) {
        switches.run();
        boolean recordedBefore = JniUtils.isGradMode();
        PtNDManager manager = parent.newSubManager(parent.getDevice());
        try {
            Map<String, PtNDArray> inputs = new LinkedHashMap<>();
            given.forEach((name, array) -> inputs.put(name, laidOut(array, manager)));
            JniUtils.setGradMode(mode.trains());
            return new Pass(manager, mode, recordedBefore, switches, plan.run(inputs, mode, manager));
        } catch (RuntimeException | Error problem) {
            JniUtils.setGradMode(recordedBefore);
            manager.close();
            throw problem;
        }
    }

    /** On a GPU, images lie pixel by pixel: its convolutions are faster so, and all that follows lies as they do. */
    private static PtNDArray laidOut(PtNDArray array, PtNDManager owner) {
        boolean image = array.getShape().dimension() == 4 && array.getDataType().isFloating();
        try (NDScope scope = new NDScope()) {
            scope.suppressNotUsedWarning();
            PtNDArray own = image && array.getDevice().isGpu() ? Tensors.channelsLast(array) : Tensors.alias(array);
            NDScope.unregister(own);
            own.attach(owner);
            return own;
        }
    }

    /** Whether gradients can be asked for. */
    boolean trains() {
        return mode.trains();
    }

    /** What came out, by name and in the graph's order; good until the pass is closed. */
    SequencedMap<String, NDArray> outputs() {
        return outputs;
    }

    /** One output; good until the pass is closed. */
    NDArray output(String name) {
        NDArray output = outputs.get(name);
        if (output == null) {
            throw new IllegalArgumentException("there is no output " + name + " among " + outputs.keySet());
        }
        return output;
    }

    /** The manager of the pass, for arrays that shall live as long as it does. */
    PtNDManager manager() {
        return manager;
    }

    /**
     * Adds the gradients of a loss to those of the network's parameters. What was remembered for it is forgotten: this can
     * be done once a pass.
     *
     * @param loss computed from the outputs; if it is more than one number, their sum is meant
     * @param share what the gradients are multiplied with
     */
    void backward(NDArray loss, double share) {
        if (!mode.trains()) {
            throw new IllegalStateException("this pass is for " + mode + ": gradients need a pass for TRAINING");
        }
        switches.run();
        try (NDScope scope = new NDScope()) {
            scope.suppressNotUsedWarning();
            PtNDArray target = (PtNDArray) loss;
            PtNDArray ones = JniUtils.onesLike(target, target.getDataType(), target.getDevice(), SparseFormat.DENSE);
            JniUtils.backward(target, share == 1 ? ones : Tensors.times(ones, share), false, false);
        } catch (EngineException refused) {
            if (String.valueOf(refused.getMessage()).contains("does not require grad")) {
                throw new GraphException(
                        "the loss depends on no weight that is trained, or only through operators without a gradient, such as"
                                + " positions of the largest elements: there is nothing to train");
            }
            throw refused;
        }
    }

    /** Closes all arrays that the pass made. */
    @Override
    public void close() {
        if (!closed) {
            closed = true;
            JniUtils.setGradMode(recordedBefore);
            manager.close();
        }
    }
}
