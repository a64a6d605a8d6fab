package dev.espalier.train.run;

/** A training that is going nowhere, and was given up. What it wrote so far is still there. */
public final class DivergedException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /**
     * A training that goes nowhere.
     *
     * @param message why, a sentence
     */
    public DivergedException(String message) {
        super(message);
    }
}
