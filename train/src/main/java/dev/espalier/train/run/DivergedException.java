package dev.espalier.train.run;

/** A training that is going nowhere, and was given up. What it wrote so far is still there. */
public final class DivergedException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    DivergedException(String message) {
        super(message);
    }
}
