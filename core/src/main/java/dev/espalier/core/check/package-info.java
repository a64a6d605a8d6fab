/** Argument checks whose messages carry the mend: the name, the value and the legal range. */
@NullMarked
package dev.espalier.core.check;

import org.jspecify.annotations.NullMarked;
