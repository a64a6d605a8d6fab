package dev.espalier.core.kernel;

/**
 * Memory for d of the block that is being stepped, and for its u where that cannot take the place of the weights. Blocks
 * use it one after the other: it is as large as the largest.
 *
 * @param u address of u
 * @param d address of d
 */
record Scratch(long u, long d) {}
