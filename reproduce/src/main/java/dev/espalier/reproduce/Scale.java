package dev.espalier.reproduce;

import java.util.Locale;

/** How much of the paper's effort is spent. */
public enum Scale {
    /** The same code on small data and for few epochs: minutes on two cores. The numbers are not the paper's. */
    SMALL,
    /** The paper's protocol on the real data. */
    FULL;

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
