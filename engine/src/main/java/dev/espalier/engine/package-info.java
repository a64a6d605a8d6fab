/**
 * Runs and trains a {@link dev.espalier.graph.Graph}, on the CPU or a GPU. Inside is DJL's PyTorch engine; nothing of it is seen
 * from outside.
 *
 * <p>A {@link dev.espalier.engine.Network} holds the tensors of a graph as arrays. For each new set of input shapes
 * the graph is specialised and compiled once: every operator becomes a {@code Kernel}, a function of arrays with all that
 * is known beforehand worked out. A {@code Pass} is one run of it, and owns all that the run made.
 */
@NullMarked
package dev.espalier.engine;

import org.jspecify.annotations.NullMarked;
