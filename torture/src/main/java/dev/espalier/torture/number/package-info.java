/** Random groups with adverse numbers, and every kernel of the step held against the operator in double precision. */
@NullMarked
package dev.espalier.torture.number;

import org.jspecify.annotations.NullMarked;
