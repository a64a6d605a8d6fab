package dev.espalier.engine;

import ai.djl.engine.EngineException;
import dev.espalier.cuda.driver.CudaException;
import dev.espalier.cuda.driver.Gpu;
import dev.espalier.torch.Torch;
import java.io.Serial;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A GPU that gave in: it has no memory left, or it was lost. CUDA and libtorch tell that in words of theirs; this tells what to do. */
public final class GpuFailure extends RuntimeException {
    @Serial
    private static final long serialVersionUID = 1;

    private static final Pattern NO_MEMORY = Pattern.compile(
            "CUDA[^\\n]*out of memory|CUDA_ERROR_OUT_OF_MEMORY|(CUBLAS|CUDNN|CUSOLVER)_STATUS_(ALLOC_FAILED|NOT_INITIALIZED)");

    /** Errors after which nothing works any more in the process: of the driver by their names, of libtorch by the texts that it shows. */
    private static final Pattern LOST =
            Pattern.compile("CUDA_ERROR_(ILLEGAL_ADDRESS|ILLEGAL_INSTRUCTION|LAUNCH_FAILED|LAUNCH_TIMEOUT"
                    + "|MISALIGNED_ADDRESS|INVALID_ADDRESS_SPACE|INVALID_PC|ASSERT|HARDWARE_STACK_ERROR|ECC_UNCORRECTABLE"
                    + "|NVLINK_UNCORRECTABLE|CONTAINED|CONTEXT_IS_DESTROYED|DEVICE_UNAVAILABLE|DEINITIALIZED|MPS_\\w+|UNKNOWN)"
                    + "|CUDA (driver )?error: (an illegal |unspecified launch failure|the launch timed out|misaligned address"
                    + "|operation not supported on global/shared|invalid program counter|device-side assert|hardware stack error"
                    + "|uncorrectable|context is destroyed|driver shutting down|CUDA-capable device|unknown error)"
                    + "|(CUBLAS|CUDNN)_STATUS_(EXECUTION_FAILED|INTERNAL_ERROR|MAPPING_ERROR)");

    /** What libtorch says behind what matters: who else has how much, settings of its own, and where in its sources it was. */
    private static final Pattern REST = Pattern.compile(
            "\\s+(Including|Process \\d|Of the allocated|If reserved|See documentation|Exception raised|CUDA kernel errors)"
                    + "|\\n");

    private GpuFailure(String message, Throwable cause) {
        super(message, cause);
    }

    /**
     * Looks whether a GPU is behind a failure.
     *
     * @param failure any
     * @return the same in words that help; empty if it has to do with something else
     */
    public static Optional<GpuFailure> in(Throwable failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof GpuFailure known) {
                return Optional.of(known);
            }
            if (cause instanceof CudaException || cause instanceof EngineException) {
                Optional<String> words = words(String.valueOf(cause.getMessage()));
                if (words.isPresent()) {
                    return Optional.of(new GpuFailure(words.get(), failure));
                }
            }
        }
        return Optional.empty();
    }

    /** Of what has nothing but a code, the GPU itself tells what it is: one that still answers lacks memory. */
    private static Optional<String> words(String said) {
        if (!said.contains(Torch.FAILED)) {
            return explain(said);
        }
        try (Gpu gpu = Gpu.open(0)) {
            gpu.synchronize(Gpu.DEFAULT_STREAM);
            return Optional.of(noMemory(said));
        } catch (CudaException lostOrNone) {
            return explain(String.valueOf(lostOrNone.getMessage()));
        }
    }

    /**
     * What to do about something that CUDA or libtorch says.
     *
     * @param said what it says
     * @return the same with what to do; empty if it is about something else
     */
    static Optional<String> explain(String said) {
        if (NO_MEMORY.matcher(said).find()) {
            return Optional.of(noMemory(said));
        }
        if (LOST.matcher(said).find()) {
            return Optional.of(
                    ("the GPU was lost (%s): nothing more can be computed on it in this process, so start again; if that fails too,"
                                    + " nvidia-smi and the system's log (lines with Xid) tell more, or take another --device")
                            .formatted(first(said)));
        }
        return Optional.empty();
    }

    private static String noMemory(String said) {
        return ("the GPU has no memory left (%s): end what else is on it, which nvidia-smi shows, take another --device, or begin anew with a"
                        + " smaller training.batch_size, which a larger training.accumulate makes up for")
                .formatted(first(said));
    }

    private static String first(String said) {
        Matcher rest = REST.matcher(said);
        return (rest.find() ? said.substring(0, rest.start()) : said).strip().replaceFirst("\\.$", "");
    }

    /**
     * Adds what is left to be done.
     *
     * @param hint the end of a sentence
     * @return the same failure with it
     */
    public GpuFailure with(String hint) {
        return new GpuFailure(getMessage() + "; " + hint, this);
    }
}
