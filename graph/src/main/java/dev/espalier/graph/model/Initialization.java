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

    /** Zero everywhere. */
    Initialization ZEROS = new Fill(0);

    /** One everywhere. */
    Initialization ONES = new Fill(1);

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
