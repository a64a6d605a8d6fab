package dev.espalier.core.step;

/** What goes along with a step: it is told how far a device is that a step is queued on. On the processor a step is done when this is told. */
public interface StepCompanion {
    /** Does nothing. */
    StepCompanion NONE = _ -> {};

    /**
     * Is told once, when the step is queued and before its end is waited for. It must not fail: the step would be done, and not counted.
     *
     * @param settled whether what is queued on the device from now on finds the weights that the step leaves, and may change gradients;
     *     otherwise neither weights nor gradients may be touched
     */
    void underWay(boolean settled);

    /** Is told if weights were changed after all, when the step was under way and settled: what was queued since has seen others. */
    default void corrected() {}

    /**
     * The same for a step that more is done to when it is over.
     *
     * @return a companion for which nothing is settled while the step is under way
     */
    default StepCompanion unsettled() {
        return _ -> underWay(false);
    }
}
