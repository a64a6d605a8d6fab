package dev.espalier.torch;

/** Whether libtorch computes with oneDNN (formerly MKL-DNN). */
public sealed interface OneDnn {

    /**
     * The switch was found.
     *
     * @param enabled where it stands now
     */
    record Known(boolean enabled) implements OneDnn {}

    /**
     * The switch was not found, and nothing was changed. Everything works, only at another speed.
     *
     * @param reason why it was not found
     */
    record Unknown(String reason) implements OneDnn {}
}
