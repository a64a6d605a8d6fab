/**
 * A model as an immutable graph: nodes over named tensors, checked and with every shape inferred when it is made. What
 * trains, what is pruned and what is exported is this one object.
 */
@NullMarked
package dev.espalier.graph;

import org.jspecify.annotations.NullMarked;
