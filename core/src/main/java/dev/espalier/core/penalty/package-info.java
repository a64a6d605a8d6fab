/** Penalties of a group of weights, as functions of the group's Euclidean norm. */
@NullMarked
package dev.espalier.core.penalty;

import org.jspecify.annotations.NullMarked;
