/** Small programs that show how Espalier is used. */
@NullMarked
package dev.espalier.examples;

import org.jspecify.annotations.NullMarked;
