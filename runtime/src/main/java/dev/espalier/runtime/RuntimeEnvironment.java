package dev.espalier.runtime;

import ai.onnxruntime.OrtEnvironment;
import ai.onnxruntime.OrtLoggingLevel;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;

/**
 * ONNX Runtime, started once. When it starts, version 1.29 matches the command line of the process with a pattern, and needs some 200 bytes of
 * stack for each character: a class path of 4000 would overflow a usual stack, and end the JVM without a word. So it is started on a
 * larger one.
 */
final class RuntimeEnvironment {
    private static final long STACK_BYTES = 1L << 29;

    private RuntimeEnvironment() {}

    private static final class Holder {
        static final OrtEnvironment SHARED = start();
    }

    static OrtEnvironment shared() {
        return Holder.SHARED;
    }

    private static OrtEnvironment start() {
        FutureTask<OrtEnvironment> start = new FutureTask<>(
                () -> OrtEnvironment.getEnvironment(OrtLoggingLevel.ORT_LOGGING_LEVEL_ERROR, "espalier"));
        Thread thread = new Thread(null, start, "onnxruntime-start", STACK_BYTES);
        thread.setDaemon(true);
        thread.start();
        boolean interrupted = false;
        while (true) {
            try {
                OrtEnvironment started = start.get();
                if (interrupted) {
                    Thread.currentThread().interrupt();
                }
                return started;
            } catch (InterruptedException _) {
                interrupted = true;
            } catch (ExecutionException failure) {
                throw new IllegalStateException("ONNX Runtime cannot be started: " + failure.getCause(), failure);
            }
        }
    }
}
