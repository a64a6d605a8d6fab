package dev.espalier.graph.prune;

import java.util.List;

/** How channels flow through a node. */
sealed interface Rule {

    /** The channels of each input as the node sees them; none where it needs an input whole. */
    List<Channels> inputs();

    /** The channels of each output. */
    List<Channels> outputs();

    /**
     * Each channel of an output comes from one channel of each input, or from none (−1): element-wise operators, pooling,
     * everything that only moves elements.
     *
     * @param maps for each input and each output, from channel to channel; null where the output does not depend on it
     */
    @SuppressWarnings("ArrayRecordComponent") // nobody compares these records, and nobody outside the package sees them
    record Mapping(List<Channels> inputs, List<Channels> outputs, int[][][] maps) implements Rule {}

    /**
     * Each channel of the output is a weighted sum of channels of the input, plus a bias.
     *
     * @param inAxis the axis of the weights that the channels of the input are along
     * @param outAxis the axis of the weights that the channels of the output are along
     * @param groups number of parts that the channels fall into; 1 unless it is a grouped convolution
     * @param padded whether zeros are mixed in at the borders, so that a constant does not stay one
     */
    record Product(List<Channels> inputs, List<Channels> outputs, int inAxis, int outAxis, int groups, boolean padded)
            implements Rule {}

    /**
     * A product of two activations, as in attention: {@code [heads, …, k] · [heads, k, n]}. The channels of the output
     * are the heads, and n if the right side has channels there; k falls away.
     *
     * @param inner whether both sides have channels along k, behind those of the heads
     */
    record Contraction(List<Channels> inputs, List<Channels> outputs, boolean inner) implements Rule {}

    /** Every channel of the output may depend on every channel of every input. */
    record Opaque(List<Channels> inputs, List<Channels> outputs) implements Rule {}

    /** Reads no elements, only shapes. */
    record ShapeOnly(List<Channels> inputs, List<Channels> outputs) implements Rule {}
}
