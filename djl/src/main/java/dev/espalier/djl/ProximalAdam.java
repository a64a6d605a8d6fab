package dev.espalier.djl;

/** Adam with a weighted proximal operator: what to write in place of DJL's {@code Optimizer.adam()}. */
public final class ProximalAdam {
    private ProximalAdam() {}

    /** {@return the same as {@link Proximal#adam()}} */
    public static ProximalOptimizer.Builder builder() {
        return Proximal.adam();
    }
}
