/**
 * Runs and trains a {@link dev.espalier.graph.Graph} on DJL's PyTorch engine.
 *
 * <p>A {@link dev.espalier.djl.network.Network} holds the tensors of a graph as arrays. For each new set of input shapes
 * the graph is specialised and compiled once: every operator becomes a {@code Kernel}, a function of arrays with all that
 * is known beforehand worked out. A {@link dev.espalier.djl.network.Pass} is one run of it, and owns all that the run made.
 */
@NullMarked
package dev.espalier.djl.network;

import org.jspecify.annotations.NullMarked;
