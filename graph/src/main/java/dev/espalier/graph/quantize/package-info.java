/** Whole numbers of eight bits for the weights of a model, and for what flows through it: an int8 model of a float model. */
@NullMarked
package dev.espalier.graph.quantize;

import org.jspecify.annotations.NullMarked;
