/** The front door: {@link dev.espalier.train.Espalier}. */
@NullMarked
package dev.espalier.train;

import org.jspecify.annotations.NullMarked;
