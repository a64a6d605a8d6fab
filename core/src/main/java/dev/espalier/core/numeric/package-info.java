/** Sums that neither overflow nor lose their leading digits. */
@NullMarked
package dev.espalier.core.numeric;

import org.jspecify.annotations.NullMarked;
