package dev.espalier.graph.prune;

import dev.espalier.graph.Node;
import dev.espalier.graph.op.Operator;
import dev.espalier.graph.op.Recurrent;
import dev.espalier.graph.op.Reduce;
import java.util.Collections;
import java.util.List;

/** How channels flow through a node. */
sealed interface Rule {
    /** What a channel carries that carries no constant. */
    double VARIES = Double.NaN;

    /** The channels of each input as the node sees them; none where it needs an input whole. */
    List<Channels> inputs();

    /** The channels of each output. */
    List<Channels> outputs();

    /**
     * Each channel of an output comes from one channel of each input, or from none (−1): element-wise operators, pooling,
     * everything that only moves elements.
     *
     * @param maps for each input and each output, from channel to channel; null where the output does not depend on it
     * @param carried what a channel carries if its sources carry constants
     * @param written how the node is written with the channels that are left
     * @param spare which operands it can do without
     */
    @SuppressWarnings("ArrayRecordComponent") // nobody compares these records, and nobody outside the package sees them
    record Mapping(
            List<Channels> inputs,
            List<Channels> outputs,
            int[][][] maps,
            Carried carried,
            Written written,
            Spare spare)
            implements Rule {

        /** One that needs every operand. */
        Mapping(List<Channels> inputs, List<Channels> outputs, int[][][] maps, Carried carried, Written written) {
            this(inputs, outputs, maps, carried, written, Spare.NONE);
        }
    }

    /** What becomes of constants. */
    @FunctionalInterface
    interface Carried {
        /** Elements are moved, and stay what they are. */
        Carried UNCHANGED = (output, channel, operands) -> operands[0];

        /** Nothing is known of the result. */
        Carried NOTHING = (output, channel, operands) -> VARIES;

        /** Zero stays zero. */
        Carried ONLY_ZERO = (output, channel, operands) -> operands[0] == 0 ? 0 : VARIES;

        /**
         * What a channel of an output carries.
         *
         * @param output which output
         * @param channel which of its channels
         * @param operands what its sources carry, one for each input; not-a-number for one that varies or that there is not
         * @return the constant, or not-a-number
         */
        double of(int output, int channel, double[] operands);
    }

    /** How a node is written with the channels that are left. */
    @FunctionalInterface
    interface Written {
        /** The operator does not say how many channels there are. */
        Written AS_IT_IS = Rewriter::keep;

        /** Adds to the smaller graph what takes the node's place. */
        void write(Rewriter rewriter, Node node, Mapping rule);
    }

    /** Which operands a node can do without. */
    enum Spare {
        /** None. */
        NONE,
        /** One that is constant in every channel that is left: numbers take its place. */
        CONSTANT,
        /** One of which no channel is left. */
        UNREAD
    }

    /**
     * Each channel of the output is a weighted sum of channels of the input, plus a bias.
     *
     * @param inAxis the axis of the weights that the channels of the input are along
     * @param outAxis the axis of the weights that the channels of the output are along
     * @param groups number of parts that the channels fall into; 1 unless it is a grouped convolution
     * @param padded whether zeros are mixed in at the borders, so that a constant does not stay one
     * @param layer what else the operator does, and how it is written with the channels that are left
     */
    record Product(
            List<Channels> inputs,
            List<Channels> outputs,
            int inAxis,
            int outAxis,
            int groups,
            boolean padded,
            Layer layer)
            implements Rule {}

    /**
     * What the operators of weighted sums differ in.
     *
     * @param scale what the sums are multiplied with
     * @param biasScale what the bias is multiplied with
     * @param addsBias whether the operator takes a bias; if not, one is added behind it
     * @param smaller the operator that takes its place
     */
    record Layer(double scale, double biasScale, boolean addsBias, Smaller smaller) {}

    /** How the operator of a layer is written with the channels that are left. */
    @FunctionalInterface
    interface Smaller {
        /**
         * The operator.
         *
         * @param groups how many of its groups are left
         * @param biased whether it is given a bias, which has been multiplied already
         */
        Operator of(int groups, boolean biased);
    }

    /**
     * A product of two activations, as in attention: {@code [heads, …, k] · [heads, k, n]}. The channels of the output
     * are the heads, and n if the right side has channels there; k falls away.
     *
     * @param inner whether both sides have channels along k, behind those of the heads
     */
    record Contraction(List<Channels> inputs, List<Channels> outputs, boolean inner) implements Rule {}

    /**
     * A recurrent layer. The channels of all its outputs, and of its first states, are its hidden units, which also read each other.
     *
     * @param operator the layer
     */
    record Recurrence(List<Channels> inputs, List<Channels> outputs, Recurrent operator) implements Rule {

        /** The same for readers that take all units. */
        Recurrence whole() {
            return new Recurrence(inputs, Collections.nCopies(outputs.size(), Channels.NONE), operator);
        }
    }

    /**
     * All channels of the input are summed up: those that carry zero add nothing.
     *
     * @param reduce how they are summed up
     */
    record Sum(List<Channels> inputs, List<Channels> outputs, Reduce reduce) implements Rule {}

    /** Every channel of the output may depend on every channel of every input. */
    record Opaque(List<Channels> inputs, List<Channels> outputs) implements Rule {}

    /** Reads no elements, only lengths, and tells those that the input had before channels went. */
    record ShapeOnly(List<Channels> inputs, List<Channels> outputs) implements Rule {}
}
