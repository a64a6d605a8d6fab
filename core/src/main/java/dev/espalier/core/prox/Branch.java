package dev.espalier.core.prox;

/** Which way a proximal operator went on a group. */
public enum Branch {
    /** The whole group is exactly zero. */
    ZEROED,
    /** The group was moved towards zero. */
    SHRUNK,
    /** The group lies where the penalty is constant, and was left as it was. */
    UNTOUCHED
}
