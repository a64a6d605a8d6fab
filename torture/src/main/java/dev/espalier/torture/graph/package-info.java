/** Random models, and everything that is held against ONNX Runtime on them. */
@NullMarked
package dev.espalier.torture.graph;

import org.jspecify.annotations.NullMarked;
