/**
 * Models in the ONNX format, read into a graph and written from one; opsets 7 to 24 are read, 13 to 24
 * written.
 *
 * <p>What goes wrong is told in one of two ways. A file that is no ONNX model that can be read (its bytes, its versions, its
 * tensors, its external data) is an {@link dev.espalier.graph.onnx.OnnxException}. A file that can be read but whose graph
 * makes no sense, or does something that a {@link dev.espalier.graph.Graph} cannot express, is a
 * {@link dev.espalier.graph.GraphException} that names the node. Nothing else leaves this package but the
 * {@link java.io.IOException}s of the file system itself.
 *
 * <p>{@link dev.espalier.graph.onnx.OnnxReader} and {@link dev.espalier.graph.onnx.OnnxWriter} share one table of operators,
 * {@code OperatorTable}: an operator is added by adding a row there.
 */
@NullMarked
package dev.espalier.graph.onnx;

import org.jspecify.annotations.NullMarked;
