package dev.espalier.graph.model;

import dev.espalier.core.check.Check;

/** What a tensor that is to be trained starts from. */
public sealed interface Initialization {

    /**
     * Independent normal numbers around zero.
     *
     * @param deviation their standard deviation
     */
    record Normal(double deviation) implements Initialization {
        /** Checks the deviation. */
        public Normal {
            Check.notNegative("deviation", deviation);
        }
    }

    /**
     * Independent uniform numbers in {@code [−bound, bound)}.
     *
     * @param bound the largest
     */
    record Uniform(double bound) implements Initialization {
        /** Checks the bound. */
        public Uniform {
            Check.notNegative("bound", bound);
        }
    }

    /**
     * The same number everywhere.
     *
     * @param value the number
     */
    record Fill(double value) implements Initialization {
        /** Checks the number. */
        public Fill {
            Check.finite("value", value);
        }
    }

    /** How the convolutions of a model start. Linear layers are the same in both, and norms start with ones and zeros. */
    enum Scheme {
        /** Kaiming's, and biases at zero: the usual choice where rectifiers follow. */
        HE,
        /** PyTorch's default: weights and biases uniform in {@code ±1/√fan_in}. */
        TORCH
    }

    /** Zero everywhere. */
    Initialization ZEROS = new Fill(0);

    /** One everywhere. */
    Initialization ONES = new Fill(1);

    /**
     * PyTorch's default for weights and biases of a layer: uniform in {@code ±1/√fan_in}, which is its
     * {@code kaiming_uniform_(a=√5)}. The variance is {@code 1 / (3 fan_in)}, a sixth of {@link #kaiming}'s.
     *
     * @param fanIn number of products that are added up
     * @return the initialization
     */
    static Initialization torch(long fanIn) {
        Check.atLeast("fanIn", fanIn, 1);
        return new Uniform(1 / Math.sqrt((double) fanIn));
    }

    /**
     * Kaiming's: normal with variance {@code 2 / fan}, which keeps the size of a signal through rectifiers.
     *
     * @param fan number of products that are added up, or that one number goes into
     * @return the initialization
     */
    static Initialization kaiming(long fan) {
        Check.atLeast("fan", fan, 1);
        return new Normal(Math.sqrt(2.0 / fan));
    }
}
