package dev.espalier.djl;

import ai.djl.ndarray.NDArray;
import ai.djl.nn.Block;
import ai.djl.pytorch.engine.PtNDArray;
import ai.djl.pytorch.jni.JniUtils;
import dev.espalier.core.prox.Regularizer;
import dev.espalier.core.schedule.LearningRate;
import dev.espalier.core.step.Optimizer;
import dev.espalier.core.step.Parameter;
import dev.espalier.core.step.ParameterSet;
import dev.espalier.core.step.StateFile;
import dev.espalier.core.step.StepReport;
import dev.espalier.core.tensor.TensorView;
import dev.espalier.torch.Torch;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;

/**
 * Steps a whole DJL model at once, beside a training loop of one's own:
 *
 * <pre>{@code
 * try (var stepper = new BlockStepper(model.getBlock(), ProximalOptions.adam(new GroupLasso(1e-3)))) {
 *     for (Batch batch : batches) {
 *         try (GradientCollector collector = engine.newGradientCollector()) {
 *             collector.backward(loss(batch));
 *         }
 *         StepReport report = stepper.step();
 *     }
 * }
 * }</pre>
 *
 * <p>Weights are read and written where libtorch has them. Because a step sees all parameters, groups may span several of
 * them, and nothing is changed if any gradient is bad: there is no model that is half updated. {@link ProximalOptimizer}
 * does the same inside of DJL's own trainer, one parameter at a time.
 */
public final class BlockStepper implements AutoCloseable {
    private final List<ModelParameter> parameters = new ArrayList<>();
    private ProximalOptions options;
    private Optimizer optimizer;
    private boolean closed;

    /**
     * A stepper for a model that has been initialised. Parameters that are frozen now are not trained.
     *
     * @param block the model
     * @param options how it is trained
     */
    public BlockStepper(Block block, ProximalOptions options) {
        this.options = options;
        List<ParameterSet> sets = new ArrayList<>();
        for (BlockGroups.Assignment assignment : options.groups().assign(block)) {
            parameters.addAll(assignment.parameters());
            sets.add(options.parameterSet(assignment));
        }
        this.optimizer = options.optimizer(sets);
    }

    /**
     * Does one step with the gradients of the last backward pass, and sets them to zero. To be called after the backward
     * pass and before the next forward pass. If it throws, weights and gradients are as they were.
     *
     * @return what was done
     */
    public StepReport step() {
        requireOpen();
        SequencedMap<String, NDArray> gradients = gradients();
        try {
            StepReport report = optimizer.step(weights(), views(gradients));
            parameters.forEach(parameter -> JniUtils.zeroGrad(array(parameter)));
            return report;
        } finally {
            gradients.values().forEach(NDArray::close);
        }
    }

    /** The optimizer goes by addresses: what is freed must not be stepped. */
    private void requireOpen() {
        if (closed) {
            throw new IllegalStateException("the stepper has been closed: close it after the last step");
        }
    }

    /** The gradients of all trained parameters, to be closed: libtorch's own memory, under new names. */
    private SequencedMap<String, NDArray> gradients() {
        SequencedMap<String, NDArray> gradients = new LinkedHashMap<>();
        List<String> missing = new ArrayList<>();
        for (ModelParameter parameter : parameters) {
            if (!parameter.trained()) {
                gradients.values().forEach(NDArray::close);
                throw new IllegalStateException(
                        "parameter " + parameter.name()
                                + " has been frozen since this stepper was made: make a new stepper for what is to be trained now");
            }
            NDArray gradient = JniUtils.getGradient(array(parameter));
            if (gradient == null) {
                missing.add(parameter.name());
            } else {
                gradient.setName("gradient of " + parameter.name()); // for error messages
                gradients.put(parameter.name(), gradient);
            }
        }
        if (!missing.isEmpty()) {
            gradients.values().forEach(NDArray::close);
            throw new IllegalStateException("there is no gradient of " + missing
                    + ": run a backward pass before the step, or freeze parameters that the loss does not depend on,"
                    + " with parameter.freeze(true), before the stepper is made");
        }
        return gradients;
    }

    private Map<String, TensorView> weights() {
        Map<String, TensorView> weights = new HashMap<>();
        parameters.forEach(parameter -> weights.put(parameter.name(), Torch.view(array(parameter))));
        return weights;
    }

    private static Map<String, TensorView> views(Map<String, NDArray> arrays) {
        Map<String, TensorView> views = new HashMap<>();
        arrays.forEach((name, array) -> views.put(name, Torch.view(array)));
        return views;
    }

    private static PtNDArray array(ModelParameter parameter) {
        NDArray array = parameter.parameter().getArray();
        if (array instanceof PtNDArray ours) {
            return ours;
        }
        throw new IllegalArgumentException("parameter %s is a %s: the model must be on DJL's PyTorch engine"
                .formatted(parameter.name(), array.getClass().getSimpleName()));
    }

    /**
     * The optimizer behind the steps, for its counts, state and sets.
     *
     * @return the optimizer; replaced when the learning rate is set
     */
    public Optimizer optimizer() {
        return optimizer;
    }

    /**
     * The learning rate.
     *
     * @return α over steps
     */
    public LearningRate learningRate() {
        return options.learningRate();
    }

    /**
     * Replaces the learning rate. Moments and the count of steps stay.
     *
     * @param learningRate α over steps, from the first step of training
     */
    public void setLearningRate(LearningRate learningRate) {
        requireOpen();
        options = options.withLearningRate(learningRate);
        optimizer = options.successor(optimizer);
    }

    /**
     * How many groups are left in the whole model.
     *
     * @return their number and how many of them are not zero
     */
    public GroupsLeft groupsLeft() {
        return groupsLeftBySet().values().stream().reduce(GroupsLeft.EMPTY, GroupsLeft::plus);
    }

    /**
     * How many groups are left in every parameter, or set of parameters that share their groups.
     *
     * @return by the name of the set; those without penalty are left out
     */
    public SequencedMap<String, GroupsLeft> groupsLeftBySet() {
        SequencedMap<String, GroupsLeft> left = new LinkedHashMap<>();
        Map<String, TensorView> weights = weights();
        for (ParameterSet set : optimizer.sets()) {
            Regularizer regularizer = set.regularizer();
            if (regularizer != null) {
                List<TensorView> views = set.parameters().stream()
                        .map(Parameter::name)
                        .map(weights::get)
                        .toList();
                left.put(set.name(), new GroupsLeft(regularizer.groups().count(), regularizer.nonZeroGroups(views)));
            }
        }
        return left;
    }

    /**
     * Saves the optimizer's state: counts, moments and norms. The weights are the model's to save.
     *
     * @param file the file; replaced if it exists
     */
    public void save(Path file) {
        requireOpen();
        StateFile.save(file, optimizer.state());
    }

    /**
     * Goes on from a saved state, bit for bit if the weights are those that belong to it.
     *
     * @param file the file
     */
    public void load(Path file) {
        requireOpen();
        StateFile.load(file, optimizer.state());
    }

    /** Frees the optimizer's memory and threads; the model stays. */
    @Override
    public void close() {
        if (!closed) {
            closed = true;
            optimizer.close();
        }
    }
}
