/** Quantities that change from one training step to the next. */
@NullMarked
package dev.espalier.core.schedule;

import org.jspecify.annotations.NullMarked;
