/** Architectures on the graph: a vocabulary of layers, the paper's networks, two small ones, and BERT from its checkpoints. */
@NullMarked
package dev.espalier.graph.model;

import org.jspecify.annotations.NullMarked;
