/**
 * Dead-code elimination for channels: what every reader ignores is removed from whoever makes it, and so on upstream; what
 * is constant is folded into the next bias. What is left is a smaller dense graph that computes the same function.
 */
@NullMarked
package dev.espalier.graph.prune;

import org.jspecify.annotations.NullMarked;
