/** Borrowed memory seen as a tensor: an address, an element type, a shape and strides. Nothing here owns a model. */
@NullMarked
package dev.espalier.core.tensor;

import org.jspecify.annotations.NullMarked;
