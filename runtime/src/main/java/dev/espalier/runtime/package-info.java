/** Models in ONNX Runtime: the independent judge of what is exported, and of how fast it is. */
@NullMarked
package dev.espalier.runtime;

import org.jspecify.annotations.NullMarked;
