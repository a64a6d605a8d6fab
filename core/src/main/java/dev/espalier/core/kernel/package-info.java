/**
 * The arithmetic of an optimizer step on raw memory: the only place that knows the Vector API.
 *
 * <p>{@link dev.espalier.core.kernel.Lanes} has a scalar and a vector twin that agree to the last bit.
 */
@NullMarked
package dev.espalier.core.kernel;

import org.jspecify.annotations.NullMarked;
