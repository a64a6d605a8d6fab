package dev.espalier.engine;

import dev.espalier.core.check.Check;
import dev.espalier.core.kernel.LaneChoice;
import dev.espalier.core.kernel.StepKernel;
import dev.espalier.core.tensor.Place;
import dev.espalier.cuda.CudaSteps;
import dev.espalier.torch.Gpus;
import dev.espalier.torch.Torch;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

/**
 * What a network computes on: the CPU or a GPU.
 *
 * @param place the memory that its tensors are in
 */
public record Device(Place place) {
    /** The CPU. */
    public static final Device CPU = new Device(Place.HOST);

    /** The system property that says how many threads compute an operation on the CPU, see {@link #useThreads}. */
    public static final String THREADS = "ai.djl.pytorch.num_threads";

    private static final String CPU_NAME = "cpu";
    private static final String GPU_NAME = "gpu";
    private static final Pattern GPU_PATTERN = Pattern.compile(GPU_NAME + "(?::(\\d{1,4}))?");

    /**
     * {@return a GPU, whether it is there or not}
     *
     * @param number which, from 0
     */
    public static Device gpu(int number) {
        return new Device(Place.gpu((int) Check.atLeast("number", number, 0)));
    }

    /**
     * Reads a device.
     *
     * @param text {@code cpu}, {@code gpu} for the first GPU, or {@code gpu:1} and so on
     * @return the device
     */
    public static Device parse(String text) {
        Matcher gpu = GPU_PATTERN.matcher(text);
        if (gpu.matches()) {
            return gpu(gpu.group(1) == null ? 0 : Integer.parseInt(gpu.group(1)));
        }
        if (text.equals(CPU_NAME)) {
            return CPU;
        }
        throw new IllegalArgumentException("there is no device \"" + text
                + "\": it must be cpu, gpu for the first GPU, or gpu:1, gpu:2 and so on");
    }

    /**
     * Has the CPU compute every operation with so many threads, in the whole process; without this there are as many as cores.
     * Networks so small that a second thread would only wait for the first are fastest with one. To be called before the first
     * network is made: libtorch asks for the number once, when it is loaded.
     *
     * @param threads how many, at least 1
     */
    public static void useThreads(int threads) {
        System.setProperty(THREADS, Long.toString(Check.atLeast("threads", threads, 1)));
    }

    /**
     * Whether it is a GPU.
     *
     * @return false for the CPU
     */
    public boolean isGpu() {
        return !place.isHost();
    }

    /**
     * Why nothing can be computed on it here. Without a driver, libtorch is not loaded to find that out.
     *
     * @return the reason, and what to do; empty if it can
     */
    public Optional<String> whyNot() {
        return isGpu() ? explained(CudaSteps.whyNoGpu().or(() -> whyNot(Torch.gpus()))) : Optional.empty();
    }

    /**
     * Why no model can be trained on it here: what {@link #whyNot} says, and what the optimizer's steps need besides. What is
     * found out quickly is found out first, and libtorch is loaded only if all else is there.
     *
     * @return the reason, and what to do; empty if one can
     */
    public Optional<String> whyNotTrained() {
        return isGpu() ? explained(CudaSteps.whyNoGpu().or(this::whyNotSteps)).or(this::whyNot) : Optional.empty();
    }

    /** A GPU that another process has all the memory of is told of as any other that has none left. */
    private static Optional<String> explained(Optional<String> reason) {
        return reason.map(said -> GpuFailure.explain(said).orElse(said));
    }

    /** The compiler of steps may lie beside the libtorch that is to be loaded, so that one is chosen first. */
    private Optional<String> whyNotSteps() {
        Optional<String> reason = Torch.whyNoCuda();
        return reason.isPresent() ? reason : CudaSteps.whyNot(place.gpu());
    }

    /** {@return the GPUs that a model can be trained on here} */
    public static List<Device> gpus() {
        return IntStream.range(0, CudaSteps.gpus())
                .mapToObj(Device::gpu)
                .filter(gpu -> gpu.whyNotTrained().isEmpty())
                .toList();
    }

    Optional<String> whyNot(Gpus gpus) {
        return switch (gpus) {
            case Gpus.Found(int count) ->
                place.gpu() < count
                        ? Optional.empty()
                        : Optional.of("there is no GPU number %d: the last one that libtorch finds is gpu:%d"
                                .formatted(place.gpu(), count - 1));
            case Gpus.None(String reason) -> Optional.of(reason);
        };
    }

    /**
     * Makes sure that something can be computed on it.
     *
     * @return this device
     * @throws IllegalArgumentException if nothing can, with what to do
     */
    public Device require() {
        whyNot().ifPresent(reason -> {
            throw new IllegalArgumentException(reason);
        });
        return this;
    }

    /**
     * What an optimizer's steps run on, near the weights of a network that is here.
     *
     * @return what makes kernels
     */
    @SuppressWarnings("exports") // to be passed on to an optimizer
    public StepKernel.Factory kernels() {
        if (!isGpu()) {
            return LaneChoice.BEST;
        }
        int gpu = place.gpu();
        return new CudaSteps(gpu, () -> Torch.stream(gpu), null);
    }

    /** The same text that {@link #parse} reads. */
    @Override
    public String toString() {
        return !isGpu() ? CPU_NAME : place.gpu() == 0 ? GPU_NAME : GPU_NAME + ":" + place.gpu();
    }
}
