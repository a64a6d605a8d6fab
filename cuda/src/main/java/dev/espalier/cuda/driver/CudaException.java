package dev.espalier.cuda.driver;

import java.io.Serial;

/** Something that the CUDA driver or its compiler refused, in their own words. */
public final class CudaException extends RuntimeException {
    @Serial
    private static final long serialVersionUID = 1;

    /**
     * A refusal.
     *
     * @param message what was asked, and the answer
     */
    public CudaException(String message) {
        super(message);
    }

    /**
     * A refusal with a cause.
     *
     * @param message what was asked
     * @param cause why not
     */
    public CudaException(String message, Throwable cause) {
        super(message + ": " + cause.getMessage(), cause);
    }
}
