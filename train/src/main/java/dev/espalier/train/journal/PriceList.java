package dev.espalier.train.journal;

import java.util.LinkedHashMap;
import java.util.SequencedMap;

/**
 * How long the parts of a model take on a machine, so that the time of a smaller one can be estimated without running it:
 * {@code fixed + Σ price · FLOPs} over its nodes. Measured once, when a run begins, and kept in its folder.
 *
 * @param milliseconds how long the original took
 * @param fixed the part of it that stays, however small the model becomes
 * @param threads how many threads it ran on
 * @param trials how many smaller models were measured beside it
 * @param prices milliseconds for each floating point operation, by the nodes' names
 */
public record PriceList(
        double milliseconds, double fixed, int threads, int trials, SequencedMap<String, Double> prices) {

    /** Takes a copy. */
    public PriceList {
        prices = new LinkedHashMap<>(prices);
    }

    /**
     * {@return the milliseconds for each floating point operation of a node; 0 for one that is not listed}
     *
     * @param node its name
     */
    public double price(String node) {
        return prices.getOrDefault(node, 0.0);
    }
}
