package dev.espalier.graph.prune;

import dev.espalier.core.check.Check;
import java.util.ArrayList;
import java.util.List;

/**
 * How narrow layers become. The narrowest are not always the fastest: blocked kernels of convolutions want numbers of channels
 * that are multiples of their blocks, and a channel that is left in place may cost less than the selection that leaves it out. Whatever
 * stays for that has no weight where it is read, so that all widths compute the same.
 *
 * @param convolutions numbers of channels that lie before other axes, as those of images do, are rounded up to a multiple of
 *     this; 1 for none
 * @param products numbers of channels along the last axis, as matrix products have them, are rounded up to a multiple of this
 * @param selections who picks channels from a tensor that holds others too
 */
public record Widths(int convolutions, int products, Selections selections) {

    /** All that can go. */
    public static final Widths NARROWEST = new Widths(1, 1, Selections.ALL);

    /** Who picks its channels from a tensor that others need more of, which copies them; who does not reads all of the tensor. */
    public enum Selections {
        /** Everybody. */
        ALL,
        /** Layers that save much more multiplications than elements are copied. */
        WORTHWHILE,
        /** Nobody, as far as it can be helped. */
        NONE
    }

    /** Multiplications that a selection must save for each element that it copies to be worth its while. */
    private static final double WORTH = 32;

    /** Checks the numbers. */
    public Widths {
        Check.atLeast("convolutions", convolutions, 1);
        Check.atLeast("products", products, 1);
    }

    /**
     * Widths of which all are multiples.
     *
     * @param multiple of what; 1 for none
     * @return the widths
     */
    public static Widths multiplesOf(int multiple) {
        return new Widths(multiple, multiple, Selections.ALL);
    }

    /**
     * {@return the same with other multiples for convolutions}
     *
     * @param multiple of what; 1 for none
     */
    public Widths withConvolutions(int multiple) {
        return new Widths(multiple, products, selections);
    }

    /**
     * {@return the same with other multiples for matrix products}
     *
     * @param multiple of what; 1 for none
     */
    public Widths withProducts(int multiple) {
        return new Widths(convolutions, multiple, selections);
    }

    /**
     * {@return the same with other selections}
     *
     * @param other who selects
     */
    public Widths withSelections(Selections other) {
        return new Widths(convolutions, products, other);
    }

    /**
     * Whether a layer picks what it needs from a tensor.
     *
     * @param needed how many channels it needs
     * @param there how many there are
     * @param perChannel how many multiplications a layer does with each element of a channel
     */
    boolean select(int needed, int there, double perChannel) {
        return switch (selections) {
            case ALL -> true;
            case WORTHWHILE -> (there - needed) * perChannel >= WORTH * needed;
            case NONE -> false;
        };
    }

    /** {@return the widths in words, for people} */
    @Override
    public String toString() {
        List<String> words = new ArrayList<>();
        if (convolutions == products) {
            add(words, "channels", convolutions);
        } else {
            add(words, "channels of convolutions", convolutions);
            add(words, "channels of matrix products", products);
        }
        if (words.isEmpty()) {
            words.add("as narrow as can be");
        }
        switch (selections) {
            case ALL -> {}
            case WORTHWHILE -> words.add("few selections");
            case NONE -> words.add("no selections");
        }
        return String.join(", ", words);
    }

    private static void add(List<String> words, String what, int multiple) {
        if (multiple > 1) {
            words.add("%s in multiples of %d".formatted(what, multiple));
        }
    }
}
