/** The commands behind the {@code espalier} launcher. */
@NullMarked
package dev.espalier.cli;

import org.jspecify.annotations.NullMarked;
