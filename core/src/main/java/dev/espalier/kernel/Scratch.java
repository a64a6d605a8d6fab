package dev.espalier.kernel;

/**
 * Memory for u and d of the block that is being stepped, one block after the other: small enough, for the layers of usual
 * models, to stay in the last cache before memory.
 *
 * @param u address of u
 * @param d address of d
 */
record Scratch(long u, long d) {}
