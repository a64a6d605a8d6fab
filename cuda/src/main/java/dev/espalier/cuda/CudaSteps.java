package dev.espalier.cuda;

import dev.espalier.core.kernel.LaneChoice;
import dev.espalier.core.kernel.StepKernel;
import dev.espalier.core.rule.UpdateRule;
import dev.espalier.cuda.driver.CudaException;
import dev.espalier.cuda.driver.Gpu;
import java.lang.System.Logger.Level;
import java.util.List;
import java.util.Optional;
import java.util.function.DoubleConsumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Makes kernels that step on a GPU. Weights and gradients must be in that GPU's memory, whoever owns it.
 *
 * @param gpu the number of the GPU, from 0
 * @param stream the stream that steps are put into, asked for at every step: what was put there before, the backward pass, is
 *     done before
 * @param clock is told how long each step took on the GPU, in milliseconds; null if nobody asks
 */
@SuppressWarnings("exports") // it is passed on to an optimizer; what it makes is between the two
public record CudaSteps(
        int gpu, LongSupplier stream, @Nullable DoubleConsumer clock) implements StepKernel.Factory {
    /** The compute capability whose instructions {@code step.cu} uses, times ten. */
    public static final int LEAST_CAPABILITY = 80;

    /**
     * Steps on the first GPU, in its default stream.
     *
     * @return the factory
     */
    public static CudaSteps onFirstGpu() {
        return new CudaSteps(0, () -> Gpu.DEFAULT_STREAM, null);
    }

    /**
     * The same with a clock.
     *
     * @param other is told how long each step took on the GPU, in milliseconds
     * @return the factory
     */
    public CudaSteps withClock(DoubleConsumer other) {
        return new CudaSteps(gpu, stream, other);
    }

    /**
     * Why there can be no steps on a GPU here.
     *
     * @return the reason; empty if there can
     */
    public static Optional<String> whyNot() {
        return whyNot(0);
    }

    /**
     * Why there can be no steps on one GPU.
     *
     * @param gpu its number, from 0
     * @return the reason; empty if there can
     */
    public static Optional<String> whyNot(int gpu) {
        return Gpu.whyNot(gpu, LEAST_CAPABILITY);
    }

    /**
     * Why the driver knows no GPU. Nothing is opened, compiled or loaded to find that out but the driver itself.
     *
     * @return the reason; empty if it knows one, be it new enough or not
     */
    public static Optional<String> whyNoGpu() {
        try {
            return Gpu.cards().isEmpty()
                    ? Optional.of("the CUDA driver knows no GPU: nvidia-smi tells whether it sees one, and"
                            + " CUDA_VISIBLE_DEVICES must not hide it")
                    : Optional.empty();
        } catch (CudaException e) {
            return Optional.of(String.valueOf(e.getMessage()));
        }
    }

    /** {@return how many GPUs the driver knows, be they new enough or not; none if there is no driver} */
    public static int gpus() {
        return whyNoGpu().isEmpty() ? Gpu.cards().size() : 0;
    }

    /**
     * Steps on the first GPU, or on the processor where there is none; the log then says why. For memory that goes with it: see
     * {@link #whyNot}.
     *
     * @return the factory
     */
    public static StepKernel.Factory orHost() {
        Optional<String> reason = whyNot();
        if (reason.isEmpty()) {
            return onFirstGpu();
        }
        System.getLogger(CudaSteps.class.getName())
                .log(Level.WARNING, "Steps run on the processor, not on a GPU: {0}", reason.get());
        return LaneChoice.BEST;
    }

    @Override
    public StepKernel create(UpdateRule rule, List<StepKernel.SetPlan> sets, int threads) {
        return new CudaKernel(Gpu.open(gpu), this, rule, sets, threads);
    }
}
