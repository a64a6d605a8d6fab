/** Work that goes on for long, and much of it at once. */
@NullMarked
package dev.espalier.torture.load;

import org.jspecify.annotations.NullMarked;
