/**
 * The operators of a graph: one record each, which knows what it makes of the types it is given, and what that costs.
 *
 * <p>The meaning of every operator is ONNX's. What ONNX has as an input but only ever makes sense as a constant (axes,
 * bounds, paddings) is a component of the record here; what may depend on a shape at run time stays an input.
 */
@NullMarked
package dev.espalier.graph.op;

import org.jspecify.annotations.NullMarked;
