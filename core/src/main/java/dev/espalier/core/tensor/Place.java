package dev.espalier.core.tensor;

import dev.espalier.core.check.Check;

/**
 * Where memory is.
 *
 * @param gpu number of the GPU, from 0; −1 for the host
 */
public record Place(int gpu) {
    /** The memory of the process. */
    public static final Place HOST = new Place(-1);

    /** Checks the number. */
    public Place {
        Check.atLeast("gpu", gpu, -1);
    }

    /**
     * {@return the memory of a GPU}
     *
     * @param index number of the GPU, as the CUDA driver counts
     */
    public static Place gpu(int index) {
        Check.atLeast("index", index, 0);
        return new Place(index);
    }

    /**
     * Whether the process can read it directly.
     *
     * @return true for the host
     */
    public boolean isHost() {
        return gpu < 0;
    }

    @Override
    public String toString() {
        return isHost() ? "the host" : "GPU " + gpu;
    }
}
